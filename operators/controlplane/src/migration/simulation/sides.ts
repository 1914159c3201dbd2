/** Both sides of the migration as one operator reaches them: the models behind its link. */

import { sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { ReplicaDigest, ReplicaEntry, ReplicaFrame, Revision } from '@hangar/store';
import type { DedicatedSession, FramesOptions, ReplicaKeys, SeedOptions, TenantReplica } from '../contract.ts';
import type { DedicatedSide } from '../sides.ts';
import type { DedicatedModel } from './dedicated-model.ts';
import type { Link, Peer } from './link.ts';
import type { ModelStore } from './model-store.ts';
import type { TenantModel } from './tenant-model.ts';

const keys: ReplicaKeys = {
  authority: { certificate: '', key: '' },
  frontProxyAuthority: { certificate: '', key: '' },
  serviceAccountKey: '',
  issuer: '',
};
const followMs = 100;
const startMsDefault = 2_000;

interface Source {
  readonly peer: Peer;
  readonly store: () => ModelStore;
  /** All changes up to this revision are in the store. */
  readonly revision: () => number;
}

async function* framesOf(
  { link, clock }: { readonly link: Link; readonly clock: Clock },
  { peer, store, revision }: Source,
  signal: AbortSignal,
  { after }: FramesOptions = {},
): AsyncGenerator<ReplicaFrame, void, void> {
  let position: number | undefined = after;
  if (position === undefined) {
    const read = () => ({ entries: Array.from(store().entries.values()), at: revision() as Revision });
    const { entries, at } = await link.call(peer, signal, read);
    for (const entry of entries) yield { type: 'entry', entry };
    yield { type: 'snapshot', revision: at };
    position = at;
  }
  while (!signal.aborted) {
    const from = position;
    const read = () => ({ changes: store().changesAfter(from), at: revision() as Revision });
    const { changes, at } = await link.call(peer, signal, read);
    yield* changes;
    // Also without a change, so that the replica knows that it has everything.
    if (at >= from) yield { type: 'progress', revision: at };
    position = Math.max(from, at);
    await sleep(clock, followMs, signal);
  }
}

export function tenantSide(link: Link, model: TenantModel, clock: Clock): TenantReplica {
  const source: Source = { peer: 'tenant', store: () => model.store, revision: () => model.hostRevision };
  const call = <T>(signal: AbortSignal, effect: () => T) => link.call('tenant', signal, effect);
  return {
    state: (signal) => call(signal, () => model.state()),
    keys: (signal) => call(signal, () => keys),
    frames: (signal, options) => framesOf({ link, clock }, source, signal, options),
    digest: (signal) =>
      call(signal, (): ReplicaDigest => {
        const at = model.received?.revision ?? model.heldAt ?? model.hostRevision;
        return { ...model.store.digest(Math.min(at, model.store.revision)), revision: at as Revision };
      }),
    hold: (id, signal) => call(signal, () => model.hold(id)),
    release: (id, signal) => call(signal, () => model.release(id)),
    passTo: (id, _, signal) => call(signal, () => model.passTo(id)),
    startReceiving: (id, signal) => call(signal, () => model.startReceiving(id)),
    receive: (id, frames, signal) => call(signal, () => model.receive(id, frames)),
    serveReceived: (id, revision, signal) => call(signal, () => model.serveReceived(id, revision)),
    deleteData: (id, signal) => call(signal, () => model.deleteData(id)),
  };
}

export function dedicatedSide(
  link: Link,
  model: DedicatedModel,
  clock: Clock,
  { startMs = startMsDefault }: { readonly startMs?: number } = {},
): DedicatedSide {
  const source: Source = { peer: 'dedicated', store: () => model.store, revision: () => model.store.revision };
  const call = <T>(signal: AbortSignal | undefined, effect: () => T) => link.call('dedicated', signal, effect);
  const session: DedicatedSession = {
    revision: () => call(undefined, () => model.store.revision as Revision),
    async apply(frames) {
      for (const frame of frames) await call(undefined, () => model.store.append(frame));
    },
    digest: (at) => call(undefined, () => model.store.digest(at)),
    frames: (signal, options) => framesOf({ link, clock }, source, signal, options),
    fence: () => call(undefined, () => model.fence()),
    activate: () => call(undefined, () => model.activate()),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return {
    replica: {
      state: (signal) => call(signal, () => model.state()),
      async seed({ id, frames }: SeedOptions, signal) {
        const uid = model.uid;
        if (model.isThere && model.id === id && !model.isSeeded) {
          const { entries, revision } = await snapshotOf(frames());
          await sleep(clock, startMs, signal);
          await call(signal, () => {
            model.load(uid, entries, revision);
            clock.after(startMs, () => (model.isAvailable = model.isThere && model.uid === uid));
          });
        }
        return call(signal, () => model.state());
      },
      open: (_, signal) => call(signal, () => session),
    },
    prepare: (id, signal) => call(signal, () => model.create(id)),
    exists: (signal) => call(signal, () => model.isThere),
    delete(signal) {
      const { uid } = model;
      return call(signal, () => model.delete(uid));
    },
  };
}

async function snapshotOf(
  frames: AsyncGenerator<ReplicaFrame, void, void>,
): Promise<{ entries: ReplicaEntry[]; revision: number }> {
  const entries: ReplicaEntry[] = [];
  for await (const frame of frames) {
    if (frame.type === 'entry') entries.push(frame.entry);
    else return { entries, revision: frame.revision };
  }
  throw new Error('the frames ended before the snapshot');
}
