/**
 * `GET …/tenants/demo/replica`: streams the content of the tenant as replication frames: a snapshot, then every change; with `?after=`, every
 * change after that revision, or 410. `?digest=true` returns the digest of the content, and `?state=true` the state of the tenant. The frames
 * have plain values, including Secrets: `get` on `tenants/replica` is the right to read everything.
 */

import { badRequest, expired, tooManyRequests } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { asError, hasCode } from '@hangar/core';
import { encodeFrames, replicaFrames } from '@hangar/store';
import type { ReplicaFrame, Revision } from '@hangar/store';
import type { Answer, Sink } from '../../http/message.ts';
import { objectAnswer, wantedBy } from '../../objects/answers.ts';
import type { Call } from '../../verbs/call.ts';
import { timestamp } from '../../verbs/metadata.ts';
import { Taker } from '../backup/download.ts';
import { decodeIdentity } from '../identity.ts';
import { askedTenant } from '../kind/asked-tenant.ts';
import type { AskedTenant } from '../kind/asked-tenant.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { receivingOf } from './receiving-mark.ts';
import { contentDigest, isOmitted, replicaView, withBaseCopied } from './replica-view.ts';
import { ensureStartObjects } from './start-objects.ts';

/** Each stream holds a page of entries in memory. */
const streamsMax = 32;
const streamsPerTenantMax = 4;
/** Requests wait for the progress frame at the revision of a hold. */
const progressEveryMs = 50;
/** A replica that continues within this time finds the changes after the last frame. */
const holdTtlMs = 15 * 60_000;
/** Longer than a replica needs to apply the frames that it has received. */
const holdEveryMs = 60_000;

export class ReplicaSource {
  readonly #world: TenantWorld;
  readonly #closed: AbortSignal;
  /** Number of streams by the path of the tenant. */
  readonly #streams = new Map<string, number>();

  /** `closed`: aborted when the server closes. */
  constructor(world: TenantWorld, closed: AbortSignal) {
    this.#world = world;
    this.#closed = closed;
  }

  async get(call: Call): Promise<Answer> {
    if (call.query.flag('state') ?? false) return this.#described(call, await stateOf(this.#world, call));
    if (call.query.flag('digest') ?? false) {
      const digest = await contentDigest(this.#world, await askedTenant(this.#world, call), this.#closed);
      return this.#described(call, { ...digest });
    }
    return this.#stream(call);
  }

  #described(call: Call, status: object): Answer | Promise<Answer> {
    const metadata = { name: call.info.name, creationTimestamp: timestamp(this.#world.clock) };
    const object = { kind: 'TenantReplica', apiVersion: call.resource.apiVersion, metadata, status };
    return objectAnswer(call, wantedBy(call), object as unknown as KubeObject);
  }

  async #stream(call: Call): Promise<Answer> {
    const { clock } = this.#world;
    const after = givenAfter(call);
    const path = call.info.name;
    const leave = this.#enter(path);
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#closed]);
    try {
      const asked = await withBaseCopied(this.#world, call);
      // A snapshot starts a replica. One that continues was prepared before.
      if (after === undefined) await ensureStartObjects(this.#world, asked);
      const view = await replicaView(this.#world, asked);
      const options = { prefix: asked.prefix, omits: isOmitted, signal, after, clock, progressEveryMs };
      const frames = await this.#held(path, after, replicaFrames(view, options));
      // The first frame shows whether the history reaches back far enough.
      const first = await frames.next();
      const body = {
        start: (sink: Sink) => {
          sink.onClose(() => {
            stop.abort();
            leave();
          });
          void this.#send(continued(first, frames), sink);
        },
      };
      return { status: 200, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body };
    } catch (error) {
      stop.abort();
      leave();
      if (hasCode(error, 'Compacted')) {
        const bound =
          'A replica can be behind by 30 minutes, one million revisions and 1 GiB: start it again from a snapshot';
        throw expired(`the changes after revision ${after ?? 0} are no longer stored. ${bound}`);
      }
      throw error;
    }
  }

  async #send(frames: AsyncGenerator<ReplicaFrame, void, void>, sink: Sink): Promise<void> {
    const taker = new Taker(sink, this.#world.clock);
    try {
      for await (const chunk of encodeFrames(frames)) if (!(await taker.take(chunk))) return;
      sink.end();
    } catch (error) {
      if (!hasCode(error, 'Fenced') && !hasCode(error, 'Compacted')) this.#world.onError(asError(error));
      (sink.abort ?? sink.end).call(sink);
    }
  }

  /**
   * Holds the history that the replica needs, also for some time after the stream ends: after the start of a snapshot, which is read to its end
   * before the replica continues with `after`; or after the frames that the replica has certainly applied.
   */
  async #held(
    path: string,
    after: Revision | undefined,
    frames: AsyncGenerator<ReplicaFrame, void, void>,
  ): Promise<AsyncGenerator<ReplicaFrame, void, void>> {
    const { store, clock } = this.#world;
    let held = after ?? (await store.revision());
    let [sent, heldMs] = [held, clock.monotonicMs()];
    const hold = (): void => store.holdHistory?.({ holder: path, revision: held, ttlMs: holdTtlMs });
    hold();
    return (async function* () {
      try {
        for await (const frame of frames) {
          yield frame;
          if (clock.monotonicMs() - heldMs >= holdEveryMs) {
            heldMs = clock.monotonicMs();
            hold();
            held = sent;
          }
          if (after !== undefined && frame.type !== 'entry') sent = frame.revision;
        }
      } finally {
        hold();
      }
    })();
  }

  /** Throws 429. */
  #enter(path: string): () => void {
    const ofTenant = this.#streams.get(path) ?? 0;
    const total = [...this.#streams.values()].reduce((sum, count) => sum + count, 0);
    if (ofTenant >= streamsPerTenantMax || total >= streamsMax) throw tooManyRequests('too many replica streams', 5);
    this.#streams.set(path, ofTenant + 1);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      const left = (this.#streams.get(path) ?? 1) - 1;
      if (left > 0) this.#streams.set(path, left);
      else this.#streams.delete(path);
    };
  }
}

const contentType = 'application/vnd.hangar.replica';

function givenAfter({ query }: Call): Revision | undefined {
  if (!query.has('after')) return undefined;
  return givenRevision(query, 'after');
}

/** Throws 400. */
export function givenRevision(query: Call['query'], name: string): Revision {
  const text = query.has(name) ? query.text(name) : '';
  const revision = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(revision)) return revision as Revision;
  throw badRequest(`the parameter ${name} must be a revision`);
}

async function* continued(
  first: IteratorResult<ReplicaFrame, void>,
  rest: AsyncGenerator<ReplicaFrame, void, void>,
): AsyncGenerator<ReplicaFrame, void, void> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}

/** Returns the state of the tenant, from its identity and not from its object. */
async function stateOf(world: TenantWorld, call: Call): Promise<object> {
  const { prefix, identity: entry }: AskedTenant = await askedTenant(world, call);
  const { remote, heldBy } = decodeIdentity(entry.value);
  const receiving = remote && (await receivingOf(world.store, prefix));
  return {
    serving: remote ? 'Remote' : 'Local',
    ...(remote ? { server: remote.server } : {}),
    ...(heldBy === undefined ? {} : { heldBy, heldAt: entry.modRevision }),
    ...(receiving && !receiving.isDeleting ? { received: { by: receiving.id, revision: receiving.revision } } : {}),
  };
}
