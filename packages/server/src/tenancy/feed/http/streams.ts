/**
 * `tenants/STAR/feed`, where STAR is `*`: the feed of all tenants for controllers of other processes.
 *
 *     GET    a stream of lines; requires permission to `get` tenants/feed with the name `*`:
 *              {"type":"hello","session":"…"}                            first line
 *              {"type":"tenant","cluster":"a"}                           followed by a line with the Tenant
 *              {"type":"put","cluster":"a","group":"apps","resource":"deployments","namespace":"default","name":"web",
 *               "resourceVersion":"7","isInitial":true}                  followed by a line with the stored object; or "delete": last state
 *              {"type":"synced"}  {"type":"reset"}  {"type":"told","cluster":"a"}  {"type":"gone","cluster":"a"}
 *              {"type":"ping"}                                           after ten seconds without another line
 *     POST   {"session":"…","retell":["a","b"],"mark":7}; requires permission to `create` it. The stream sends the state of these tenants
 *              again, and after each {"type":"told","cluster":"a","mark":7}, with the mark (a number, or absent) of the last request.
 *              If requested again meanwhile, only the last one is reported. Returns 202, or 404 if this server has no such stream of
 *              this user.
 *
 * A stream cannot be resumed: after a disconnect, the reader starts a new one. It contains everything that tenants store, except that
 * Secrets have only their metadata (without annotations) and type. Objects of the management plane are excluded. So the permission is
 * powerful: it reveals all tenants. The default policy does not grant it, and anonymous users never have it, regardless of the policy. A
 * stream closes within a minute after its reader loses the permission, or its credential is no longer valid for the same user.
 */

import { badRequest, notFound, StatusError, tooManyRequests, unauthorized } from '@hangar/api';
import { uuid } from '@hangar/core';
import { impersonate } from '../../../auth/impersonation/impersonate.ts';
import { wantedUser } from '../../../auth/impersonation/wanted.ts';
import { unauthenticatedGroup } from '../../../auth/user.ts';
import type { User } from '../../../auth/user.ts';
import type { Answer } from '../../../http/message.ts';
import { statusAnswer } from '../../../objects/answers.ts';
import type { Resource } from '../../../resources/resource.ts';
import { groupResource } from '../../../verbs/call.ts';
import type { Call } from '../../../verbs/call.ts';
import { isTenantPath } from '../../layout.ts';
import { everyTenant } from '../../route.ts';
import type { TenantFeedWorld } from '../tenant-feed.ts';
import { FeedStream } from './stream.ts';
import { WaitingBound } from './waiting-bound.ts';

export interface FeedStreamsOptions {
  readonly world: TenantFeedWorld;
  /** Aborted when the server closes; closes all streams. */
  readonly closed: AbortSignal;
}

/** Each stream reads the whole store when it starts, and processes every write. */
export const streamsMax = 16;
/** Prevents one user from taking all streams. */
export const streamsOfOneMax = 8;
/** Prevents readers that were disconnected together from reconnecting at once. */
const retryAfterSeconds = 5;
const bodyBytesMax = 1024 * 1024;

interface Opened {
  readonly stream: FeedStream;
  readonly user: string;
}

export class FeedStreams {
  readonly #options: FeedStreamsOptions;
  readonly #open = new Map<string, Opened>();
  readonly #bound = new WaitingBound();

  constructor(options: FeedStreamsOptions) {
    this.#options = options;
  }

  /** Handlers by verb. */
  get handlers(): NonNullable<Resource['operations']>[string] {
    return { get: (call) => this.#follow(call), create: (call) => this.#retell(call) };
  }

  async #follow(call: Call): Promise<Answer> {
    insistOnEvery(call);
    const { user } = call;
    const shown = await call.guard.identify(call.request);
    if (!shown) throw unauthorized();
    this.#insistOnRoom(user);
    const session = uuid(this.#options.world.random);
    const stream = new FeedStream({
      ...this.#options,
      bound: this.#bound,
      session,
      isAllowed: () => isStillAllowed(call, shown),
      onEnd: () => void this.#open.delete(session),
    });
    this.#open.set(session, { stream, user: user.name });
    return {
      status: 200,
      headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' },
      body: stream,
    };
  }

  #insistOnRoom({ name }: User): void {
    if (this.#open.size >= streamsMax) {
      throw tooManyRequests(`too many open tenant feeds: the limit of this server is ${streamsMax}`, retryAfterSeconds);
    }
    let ofOne = 0;
    for (const { user } of this.#open.values()) if (user === name) ofOne++;
    if (ofOne < streamsOfOneMax) return;
    const message = `too many open tenant feeds of user ${name}: the limit is ${streamsOfOneMax}`;
    throw tooManyRequests(message, retryAfterSeconds);
  }

  async #retell(call: Call): Promise<Answer> {
    insistOnEvery(call);
    const { session, retell, mark } = asked(await call.request.body(bodyBytesMax));
    const opened = this.#open.get(session);
    if (!opened || opened.user !== call.user.name) {
      throw new StatusError('NotFound', 'feed session not found on this server', {
        details: { name: session },
      });
    }
    for (const cluster of retell) opened.stream.retell(cluster, mark);
    const message = 'the feed sends the state of these tenants again';
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', message, code: 202 } as const;
    return statusAnswer(status, call.request.header('accept'));
  }
}

/** Throws unless the request is authenticated and for the feed of all tenants. */
function insistOnEvery(call: Call): void {
  if (call.user.groups.includes(unauthenticatedGroup)) throw unauthorized();
  if (call.info.name !== everyTenant) throw notFound(groupResource(call), `${call.info.name}/feed`);
}

/**
 * Reports whether the reader's credential is still valid for the same user, and whether that user, or the one that it impersonates, still
 * has permission. `shown` is the user at the start of the stream. Rejects if this cannot be determined.
 */
async function isStillAllowed({ guard, request, info }: Call, shown: User): Promise<boolean> {
  const requestor = await guard.identify(request);
  if (!requestor || requestor.name !== shown.name || requestor.uid !== shown.uid) return false;
  const wanted = wantedUser(request);
  const user = wanted ? (await impersonate({ guard, requestor, wanted, info })).user : requestor;
  return (await guard.decide(user, info)) === 'allow';
}

interface Asked {
  readonly session: string;
  readonly retell: readonly string[];
  readonly mark: number | undefined;
}

function asked(body: Uint8Array): Asked {
  let value: Partial<Record<keyof Asked, unknown>> | null;
  try {
    value = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString()) as typeof value;
  } catch (error) {
    throw badRequest('the body is not valid JSON', error);
  }
  const { session, retell, mark } = value ?? {};
  if (typeof session !== 'string') throw badRequest('session must be a string');
  if (!Array.isArray(retell)) throw badRequest('retell must be a list of tenant names');
  const wrong = retell.find((name) => typeof name !== 'string' || !isTenantPath(name)) as unknown;
  if (wrong !== undefined) throw badRequest(`${JSON.stringify(wrong)} in retell is not a valid tenant name`);
  if (mark !== undefined && typeof mark !== 'number') throw badRequest('mark must be a number');
  return { session, retell: retell as string[], mark };
}
