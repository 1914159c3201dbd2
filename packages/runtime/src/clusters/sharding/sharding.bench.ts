/** Measures the cost of sharding and the duration of handoffs: peers on a real API server in process, in virtual time. */

import { clustersNamed, Fleet } from './testing/fleet.ts';
import type { FleetPeer } from './testing/fleet.ts';

export interface ShardingFigures {
  /** 1,000 clusters on five peers x-0…x-4. */
  readonly shares: readonly number[];
  readonly maxOverMin: number;
  /** 1,000 clusters on two peers with the weights 1 and 10: relative error of the share of the light one, 0.1 is 10 %. */
  readonly weightError: number;
  /** Of all five peers while idle. */
  readonly leaseWritesPerSecond: number;
  /** Time until the others own all clusters of a leaving peer, and until a joining peer owns its share; clusters drain in 50 ms. */
  readonly cleanExitMs: number;
  readonly joinMs: number;
  /** Time until the others own all clusters of a peer that died right after a renewal. */
  readonly crashTakeOverMs: number;
}

const latencyMs = 10;
const drainMs = 50;
const quietMs = 120_000;

const writesOf = (peers: readonly FleetPeer[]): number =>
  peers.reduce((sum, peer) => sum + peer.metric('lease_writes_total'), 0);

export async function measureSharding(): Promise<ShardingFigures> {
  await using fleet = await Fleet.open(clustersNamed(1_000));
  const { clock } = fleet;
  const start = (name: string): FleetPeer => {
    const peer = fleet.start({ peer: name }, { latencyMs });
    peer.drainMs = () => drainMs;
    return peer;
  };
  const peers = [0, 1, 2, 3, 4].map((i) => start(`x-${i}`));
  await fleet.until(() => fleet.isShared() && peers.every(({ held }) => held.size > 0));
  await clock.advance(60_000);
  const shares = peers.map(({ held }) => held.size);
  const before = writesOf(peers);
  await clock.advance(quietMs);
  const leaseWritesPerSecond = (writesOf(peers) - before) / (quietMs / 1_000);

  const [leaver, crasher, ...rest] = peers as [FleetPeer, FleetPeer, ...FleetPeer[]];
  void leaver.stop();
  const cleanExitMs = await fleet.until(() => fleet.isShared([crasher, ...rest]));
  await clock.advance(30_000);
  const joiner = start('x-5');
  const joinMs = await fleet.until(() => fleet.isShared([joiner, crasher, ...rest]) && joiner.held.size > 0);
  await clock.advance(30_000);
  const renewals = crasher.metric('lease_writes_total');
  await fleet.until(() => crasher.metric('lease_writes_total') > renewals);
  await clock.advance(2 * latencyMs);
  crasher.cut();
  const crashTakeOverMs = await fleet.until(() => fleet.isShared([joiner, ...rest]));
  const maxOverMin = Math.max(...shares) / Math.min(...shares);
  const weightError = await measureWeights();
  return { shares, maxOverMin, weightError, leaseWritesPerSecond, cleanExitMs, joinMs, crashTakeOverMs };
}

async function measureWeights(): Promise<number> {
  await using fleet = await Fleet.open(clustersNamed(1_000));
  const light = fleet.start({ peer: 'x-0', weight: 1 });
  fleet.start({ peer: 'x-1', weight: 10 });
  await fleet.clock.advance(60_000);
  return Math.abs(light.held.size / (1_000 / 11) - 1);
}
