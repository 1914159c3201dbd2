/**
 * Five operators in separate processes share a thousand clusters by leases of a Hangar in another process, in real time with the default
 * timings. The owner of a cluster is determined by the reported looks, not by the state of the peers.
 */

import { connect, loadKubeconfig } from '@hangar/client';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { measureSharding } from '../../packages/runtime/src/clusters/sharding/sharding.bench.ts';
import { thousands } from '../table.ts';
import { Hangar } from '../tenants/hangar.ts';
import { Looks } from './looks.ts';
import { Program } from './program.ts';
import type { PeerOptions } from './programs/peer.ts';

export interface Sharing {
  readonly clusters: number;
  /** Of each peer. */
  readonly held: readonly number[];
  /** From the start of the peers to a look at the last cluster. */
  readonly startMs: number;
  readonly leaseWritesPerSecond: number;
  /** From the signal to the first look of another at the last of its clusters. */
  readonly handOverMs: number;
  readonly crashMs: number;
  /** From its start until it has its share and no cluster moves any longer. */
  readonly joinMs: number;
  readonly looks: number;
  /** Looks of two peers at one cluster at the same time. */
  readonly overlaps: number;
  /** With weights of 1 and 10: how many clusters each has. */
  readonly weighted: readonly [light: number, heavy: number];
}

export interface SharingSize {
  readonly clusters: number;
  readonly quietMs: number;
}

const peers = 5;
/** When no cluster has changed its peer for this long, all are assigned and balanced. */
const calmMs = 10_000;

export async function sharing({ clusters, quietMs }: SharingSize): Promise<Sharing> {
  return Hangar.use([], async ({ kubeconfig }) => {
    const names = Array.from({ length: clusters }, (_, n) => `cluster-${n}`);
    const peerOf = (looks: Looks, options: Pick<PeerOptions, 'group' | 'peer' | 'weight'>): Program =>
      new Program('peer', { kubeconfig, clusters: names, ...options } satisfies PeerOptions, {
        onSaid: (what, value) => void (what === 'looks' && looks.add(options.peer, value)),
      });

    const looks = new Looks(names);
    await using running = new AsyncDisposableStack();
    const start = (n: number): Program => running.use(peerOf(looks, { group: 'equal', peer: `x-${n}`, weight: 1 }));
    const begunMs = looks.nowMs();
    const programs = Array.from({ length: peers }, (_, n) => start(n));
    await looks.calm(calmMs);
    const startMs = looks.firstLooksMs() - begunMs;
    const held = [...looks.held().values()];
    console.log(
      `  ${peers} peers, ${thousands(clusters)} clusters: ${held.join(', ')}; all looked at after ${(startMs / 1_000).toFixed(1)} s`,
    );

    const leaseWritesPerSecond = await leaseWrites(kubeconfig, quietMs);
    console.log(`  when nothing changes: ${leaseWritesPerSecond.toFixed(2)} writes of leases a second`);

    const handOverMs = await takenOver(looks, 'x-2', () => programs[2]!.end('SIGTERM'));
    console.log(`  x-2 ends in good order: others look at the last of its clusters after ${handOverMs.toFixed(0)} ms`);
    await looks.calm(calmMs);
    const joinedMs = looks.nowMs();
    programs[2] = start(2);
    await looks.calm(calmMs);
    const joinMs = looks.lastMoveMs() - joinedMs;
    console.log(`  it comes again: has its share after ${(joinMs / 1_000).toFixed(2)} s`);
    const crashMs = await takenOver(looks, 'x-4', () => programs[4]!.end('SIGKILL'));
    console.log(`  x-4 is killed: others look at the last of its clusters after ${(crashMs / 1_000).toFixed(2)} s`);
    await looks.calm(calmMs);
    await running.disposeAsync();

    const weightedLooks = new Looks(names);
    await using light = peerOf(weightedLooks, { group: 'weighted', peer: 'w-0', weight: 1 });
    await using heavy = peerOf(weightedLooks, { group: 'weighted', peer: 'w-1', weight: 10 });
    await weightedLooks.calm(calmMs);
    const weighted = ['w-0', 'w-1'].map((peer) => weightedLooks.held().get(peer) ?? 0) as [number, number];
    console.log(`  weights of 1 and 10: ${weighted.join(', ')}`);
    await Promise.all([light.end('SIGTERM'), heavy.end('SIGTERM')]);
    const overlaps = looks.overlaps() + weightedLooks.overlaps();
    console.log(
      `  of ${thousands(looks.count + weightedLooks.count)} looks, ${overlaps} were at a cluster that another looked at at the same time`,
    );
    await printVirtual();
    return {
      clusters,
      held,
      startMs,
      leaseWritesPerSecond,
      handOverMs,
      crashMs,
      joinMs,
      looks: looks.count + weightedLooks.count,
      overlaps,
      weighted,
    };
  });
}

/** The same with exact times: the worst case is a peer that dies right after a renewal. */
async function printVirtual(): Promise<void> {
  const { cleanExitMs, joinMs, crashTakeOverMs, leaseWritesPerSecond } = await measureSharding();
  console.log(
    `  in virtual time, 1,000 clusters that rest after 50 ms: hand-over ${cleanExitMs} ms, share of a peer that joins ${joinMs} ms, take-over after a death right behind a renewal ${crashTakeOverMs} ms, ${leaseWritesPerSecond.toFixed(2)} writes of leases a second`,
  );
}

/** Counted at the server, by a watch of all leases. */
async function leaseWrites(kubeconfig: string, durationMs: number): Promise<number> {
  const client = connect(await loadKubeconfig(kubeconfig));
  const { resourceVersion } = await client.list(Lease, { namespace: 'default' });
  const signal = AbortSignal.timeout(durationMs);
  let writes = 0;
  try {
    for await (const { type } of client.watch(Lease, { namespace: 'default', resourceVersion, signal })) {
      if (type !== 'BOOKMARK') writes++;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await client.close();
  return writes / (durationMs / 1_000);
}

/** All clusters that the peer owns when it exits. */
async function takenOver(looks: Looks, peer: string, end: () => Promise<void>): Promise<number> {
  const lost = looks.heldBy(peer);
  const begunMs = looks.nowMs();
  const ending = end();
  const lastMs = await looks.lookedAtByOthers(lost, peer, begunMs);
  await ending;
  return lastMs - begunMs;
}
