/**
 * A tenant whose requests are passed on to the API server of its dedicated control plane. This server authenticates the user and is the
 * front proxy of that API server, which authorizes. Fairness, quotas of requests, audit and metrics apply as to other tenants.
 */

import { StatusError, unauthorized } from '@hangar/api';
import { asError, CleanupStack, currentActivity, hasCode } from '@hangar/core';
import type { Entry } from '@hangar/store';
import { isReturning } from '../../aggregation/headers.ts';
import { passedOn } from '../../aggregation/proxy.ts';
import { insistOnPlainTarget, isDevious } from '../../aggregation/target.ts';
import { wantedUser } from '../../auth/impersonation/wanted.ts';
import { refuseParent } from '../../auth/parent-extras.ts';
import { anonymous } from '../../auth/user.ts';
import type { User } from '../../auth/user.ts';
import type { Auditor, AuditRecord } from '../../audit/auditor.ts';
import { TenantFairness } from '../../fairness/index.ts';
import type { Turn } from '../../fairness/index.ts';
import { endingBy, isStreaming } from '../../http/message.ts';
import type { Answer, ServerRequest } from '../../http/message.ts';
import type { RequestMetrics } from '../../metrics/request-metrics.ts';
import { isAgentRequest } from '../../nodes/tunnel/index.ts';
import { errorAnswer } from '../../objects/answers.ts';
import { PageNotFound, pageNotFoundAnswer } from '../../objects/page-not-found.ts';
import { requestInfo } from '../../request/info.ts';
import type { RequestInfo } from '../../request/info.ts';
import { Query, splitTarget } from '../../request/query.ts';
import { markWritten } from '../hold/attempt.ts';
import type { RemoteApiServer, TenantIdentity } from '../identity.ts';
import { frontProxyCertificate } from '../keys/front-proxy.ts';
import type { TenantKeys } from '../keys/keys.ts';
import type { ServedTenant, TenantLink, TenantWorld } from '../open-tenant.ts';
import { followMember, isOfManagementPlane, isPlatformUser } from '../platform-users.ts';
import { insistOnActive } from '../suspension.ts';
import { TenantAccount } from '../usage/account.ts';
import { RemoteConnections } from './connections.ts';
import { RemoteCredentials } from './credentials.ts';
import type { PassedCredentials } from './credentials.ts';
import { passedHeaders } from './headers.ts';
import { isRefusedByFence, withFenceNoticed } from './passed-answer.ts';
import { RunningRequests } from './running-requests.ts';

/** Bodies up to this size are kept, so that a request can be repeated when a fence refused it. */
const keptBodyBytesMax = 256 * 1024;
/** Each takes a connection. */
const runningMax = 8_192;

export interface RemoteTenantOptions {
  readonly world: TenantWorld;
  readonly link: TenantLink;
  /** Entry of the identity. */
  readonly entry: Entry;
  readonly identity: TenantIdentity & { readonly remote: RemoteApiServer };
  readonly keys: TenantKeys;
  /** Adds the path of the tenant to its events. */
  readonly auditor: Auditor | undefined;
}

export function openRemoteTenant(options: RemoteTenantOptions): ServedTenant {
  const { world, link, entry, identity, keys } = options;
  const { clock, random } = world;
  const { path } = link.tenant();
  const { seed, remote } = identity;
  const opened = new CleanupStack();
  const connections = new RemoteConnections({
    remote,
    outbound: world.outbound,
    clientCertificate: frontProxyCertificate({ keys, clock, random }),
  });
  opened.defer(() => connections.close());
  const fairness =
    world.fairQueue &&
    new TenantFairness({
      queue: world.fairQueue,
      plane: { name: path, clock },
      requestsPerSecond: () => link.tenant().spec.quota?.requestsPerSecond,
    });
  opened.defer(() => fairness?.close());
  const used = world.usage.open({ path, seed, revision: entry.modRevision });
  opened.defer(() => used.close());
  const counted = world.requestMetrics.open(path, seed);
  opened.defer(() => counted.close());
  const account = new TenantAccount({
    clock,
    tenant: () => link.tenant(),
    meter: used.meter,
    metrics: world.tenantMetrics,
  });
  const tenant = new RemoteTenant({
    ...options,
    connections,
    account,
    fairness,
    metrics: counted.metrics.requests,
    credentials: new RemoteCredentials({
      path,
      keys,
      platformUsers: world.platformUsers(path),
      external: world.externalUsers.authenticator(path),
      clock,
      random,
    }),
  });
  return {
    keys,
    handle: (request) => account.account(request, (one) => tenant.answer(one)),
    close: async () => {
      await tenant.drain();
      await opened.run();
    },
  };
}

interface RemoteTenantParts extends RemoteTenantOptions {
  readonly connections: RemoteConnections;
  readonly credentials: RemoteCredentials;
  readonly account: TenantAccount;
  readonly fairness: TenantFairness | undefined;
  readonly metrics: RequestMetrics;
}

/** Facts about a request that are known when its answer is built. */
interface About {
  info?: RequestInfo;
  passed?: PassedCredentials;
  audit?: AuditRecord | undefined;
  turn?: Turn;
}

class RemoteTenant {
  readonly #parts: RemoteTenantParts;
  readonly #self: string;
  readonly #running: RunningRequests;

  constructor(parts: RemoteTenantParts) {
    this.#parts = parts;
    this.#self = `hangar-${parts.world.serverId}`;
    this.#running = new RunningRequests(parts.world.clock);
  }

  drain(): Promise<void> {
    return this.#running.drain();
  }

  /** Never rejects. */
  async answer(request: ServerRequest): Promise<Answer> {
    const about: About = {};
    const { metrics } = this.#parts;
    const startedMs = metrics.began(request.method);
    const made = await this.#answered(request, about);
    const left = about.turn ? about.turn.left(made, undefined) : made;
    metrics.ended(request.method);
    metrics.record({
      info: about.info,
      resource: undefined,
      status: left.status,
      query: '',
      startedMs,
      excludedMs: 0,
      bytes: undefined,
    });
    const answer = about.audit ? about.audit.answered(left) : left;
    // The mark is on the answer that was made here.
    return isRefusedByFence(made) ? made : answer;
  }

  async #answered(request: ServerRequest, about: About): Promise<Answer> {
    try {
      return await this.#passed(request, about);
    } catch (error) {
      if (!about.passed) this.#parts.fairness?.refusedUnknown();
      if (error instanceof PageNotFound) return pageNotFoundAnswer;
      const answer = errorAnswer(this.#statusOf(error), request.header('accept'), []);
      return about.passed ? answer : { ...answer, isToStranger: true };
    }
  }

  #statusOf(error: unknown): StatusError {
    if (error instanceof StatusError) return error;
    const { link } = this.#parts;
    const message = `the API server of control plane "${link.tenant().path}" cannot be reached, please try again`;
    const cause = asError(error);
    if (!hasCode(error, 'Unreachable') && !hasCode(error, 'Timeout')) this.#parts.world.onError(cause);
    return new StatusError('ServiceUnavailable', message, { details: { retryAfterSeconds: 1 }, cause });
  }

  async #passed(request: ServerRequest, about: About): Promise<Answer> {
    const { fairness, credentials, auditor } = this.#parts;
    fairness?.arrives();
    const passed = await credentials.of(request);
    about.passed = passed;
    fairness?.runs();
    const { path, query } = splitTarget(request.target);
    const isWatch = query !== '' && (new Query(query).flag('watch') ?? false);
    const info = requestInfo(request.method, path, isWatch);
    about.info = info;
    about.audit = auditor?.begin(request, info, passed.isUnverified ? undefined : this.#scoped(passed).user);
    this.#admit(request, info, passed);
    if (isDevious(path) && !/\/proxy(\/|$)/.test(path)) throw new PageNotFound();
    insistOnPlainTarget(request.target);
    const wanted = wantedUser(request);
    if (wanted) refuseParent(wanted);
    if (fairness) {
      about.turn = fairness.enter({ user: passed.user, info, request });
      if (about.turn.waiting) await about.turn.waiting;
      // The request waits for another machine from now on.
      about.turn.leavesEarly();
    }
    const answer = await this.#exchanged(about.audit?.request ?? request, info, passed);
    if (answer.status === 401 && passed.isUnverified) throw strangerToRemote(about);
    return this.#followed(answer, passed.user);
  }

  /** Watches and connections of a member end with the membership. */
  #followed(answer: Answer, user: User): Answer {
    if (!isStreaming(answer.body) || !isOfManagementPlane(user)) return answer;
    const users = this.#parts.world.platformUsers(this.#parts.link.tenant().path);
    return { ...answer, body: endingBy(answer.body, (end) => followMember(users, user, end) ?? (() => {})) };
  }

  /** The other API server trusts the extras of the user. */
  #scoped(passed: PassedCredentials): PassedCredentials {
    const { world, link } = this.#parts;
    if (passed.token !== undefined || passed.user === anonymous) return passed;
    return { ...passed, user: world.scope(link.tenant().path, passed.user) };
  }

  /** Throws if the request is not served now for any user, or must not be passed on. */
  #admit(request: ServerRequest, info: RequestInfo, { user, isUnverified = false }: PassedCredentials): void {
    const { link, account } = this.#parts;
    const { path } = link.tenant();
    const activity = currentActivity();
    if (activity?.tenant === path) {
      if (!activity.isPlatformWork) activity.verb = info.verb;
      activity.authenticated(user.name, user !== anonymous && !isUnverified && !isPlatformUser(user));
    }
    insistOnActive(link.tenant(), info, user !== anonymous && !isUnverified);
    if (isAgentRequest(request)) throw agentsMoved(path);
    if (isReturning(request, this.#self)) throw loops(path);
    if (this.#running.size >= runningMax) throw tooManyRunning(path);
    account.admit(info, request);
  }

  #exchanged(request: ServerRequest, info: RequestInfo, passed: PassedCredentials): Promise<Answer> {
    const { connections, world } = this.#parts;
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    const isFinite = info.verb !== 'watch' && !request.passing?.upgrade && !isFollowedLog(info);
    return this.#running.run(request, { isFinite }, async (signal) => {
      const body = await keptBody(request);
      const headers = passedHeaders(request, this.#scoped(passed), this.#self);
      const withUser = passed.token === undefined && passed.user !== anonymous;
      if (!isReading) markWritten(true);
      const upstream = connections.upstream({ withUser, signal });
      const answer = await passedOn(upstream, request, headers, { clock: world.clock, isDiscovery: false, body });
      if (isReading) return answer;
      const read = await withFenceNoticed(answer);
      if (isRefusedByFence(read)) markWritten(false);
      return read;
    });
  }
}

/** Returns undefined if the body is passed on as a stream. */
async function keptBody(request: ServerRequest): Promise<Uint8Array | undefined> {
  const { method, passing } = request;
  if (!passing || passing.upgrade || method === 'GET' || method === 'HEAD') return undefined;
  const length = request.header('content-length');
  // The options of a deletion are small.
  const isSmall = length === undefined ? method === 'DELETE' : Number(length) <= keptBodyBytesMax;
  return isSmall ? request.body(keptBodyBytesMax) : undefined;
}

const isFollowedLog = (info: RequestInfo): boolean => info.isResource && info.subresource === 'log';

/** The client has only a token that the other API server does not accept. */
function strangerToRemote(about: About): StatusError {
  delete about.passed;
  return unauthorized();
}

const agentsMoved = (path: string): StatusError =>
  new StatusError(
    'NotFound',
    `control plane "${path}" is served by a dedicated API server: agents of its nodes connect to that server`,
  );

const loops = (path: string): StatusError =>
  new StatusError('InternalError', `requests of control plane "${path}" are passed on to this server itself`);

const tooManyRunning = (path: string): StatusError =>
  new StatusError('TooManyRequests', `control plane "${path}" has ${runningMax} running requests and watches`, {
    details: { retryAfterSeconds: 1 },
  });
