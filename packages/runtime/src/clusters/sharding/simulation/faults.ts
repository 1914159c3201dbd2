/** Kinds of faults and their durations. */

import { chance, pick } from '@hangar/core';
import { peerLeasePrefix, ringLeaseName } from '../leases.ts';
import { defaultTimings } from '../timings.ts';
import { group } from './group.ts';
import type { Peer } from './peer.ts';
import type { FaultKind } from './profile.ts';
import type { World } from './world.ts';

const peersMax = 5;

export function disturb(world: World): void {
  const { faults, profile, alive } = world;
  const kind = pick(faults, profile.kinds);
  if (alive.length === 0 || kind === 'join') {
    if (alive.length < peersMax) world.start();
    return;
  }
  // Faults tend to hit the same peer again.
  const last = alive.find(({ process }) => process.name === world.lastDisturbed);
  const peer = last && chance(faults, 0.3) ? last : pick(faults, alive);
  world.lastDisturbed = peer.process.name;
  // Faults are most useful when they end about the time at which other peers time out.
  const silentMs = world.scheduler.monotonicMs() - peer.link.lastRenewedMs;
  const lengthMs =
    profile.isOnEdge || chance(faults, 0.4)
      ? Math.max(0, defaultTimings.leaseMs - silentMs + (faults.fraction() - 0.4) * 1_000)
      : faults.fraction() * profile.faultMaxMs;
  world.trace.note(`${peer.process.name}: ${kind} ${lengthMs.toFixed(0)} ms`);
  const isOver = happen[kind](world, peer);
  if (isOver) world.scheduler.after(lengthMs, isOver);
}

/** Starts the fault and returns the function that ends it. */
const happen: Record<FaultKind, (world: World, peer: Peer) => (() => void) | undefined> = {
  stop: (_, peer) => paused(peer, 'stopped'),
  sleep: (_, peer) => paused(peer, 'asleep'),
  crash(world, { process }) {
    process.kill();
    return again(world, process.name);
  },
  exit(world, peer) {
    peer.leave();
    return again(world, peer.process.name);
  },
  join: () => undefined,
  cut: (world, peer) => cut(world, [peer]),
  'cut-all': (world) => cut(world, world.alive),
  slow(_, { link }) {
    link.slowness = 40;
    return () => {
      link.slowness = 1;
      link.disturbed();
    };
  },
  'late-answers'(world, peer) {
    const { link } = peer;
    link.answersLateMs = 1_800;
    world.scheduler.after(3_000 + world.faults.fraction() * 4_000, () => {
      if (!world.isHealed && chance(world.faults, 0.6)) link.isCut = true;
    });
    return () => {
      link.answersLateMs = 0;
      link.isCut = false;
      link.disturbed();
    };
  },
  double(world, { process }) {
    world.start(process.name);
    return undefined;
  },
  'break-watches'(_, { link }) {
    link.breakWatches();
    return undefined;
  },
  'set-clock'({ faults }, { process }) {
    // A clock that is set back during a sleep can hide the sleep, which the protocol cannot detect.
    const byMs = (faults.fraction() - (process.hasSlept ? 0 : 0.5)) * 60_000;
    process.stepWall(byMs);
    return undefined;
  },
  'delete-lease': ({ server }, { process }) => deleted(() => server.remove(peerLeasePrefix(group) + process.name)),
  'delete-ring': ({ server }) => deleted(() => server.remove(ringLeaseName(group))),
};

function paused({ process }: Peer, kind: 'stopped' | 'asleep'): (() => void) | undefined {
  if (process.isPaused) return undefined;
  process.pause(kind);
  return () => {
    if (process.isPaused && !process.isDead) process.resume();
  };
}

/** Possibly under the same name, as a pod of a StatefulSet. */
function again(world: World, name: string): (() => void) | undefined {
  if (chance(world.faults, 0.3)) return undefined;
  return () => {
    if (!world.isHealed) world.start(name);
  };
}

function cut(world: World, peers: readonly Peer[]): () => void {
  for (const { link } of peers) link.isCut = true;
  return () => {
    for (const { link } of peers) {
      link.isCut = false;
      if (chance(world.faults, 0.5)) link.breakWatches();
      link.disturbed();
    }
  };
}

/** Simulates a user who deletes the object without a precondition. */
function deleted(remove: () => void): undefined {
  try {
    remove();
  } catch {
    // It did not exist.
  }
}
