/** The kind of world that a seed creates: drawn first, so that worlds differ in kind and not only in chance. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { LinkQuality } from './link.ts';

export type FaultKind =
  | 'stop'
  | 'sleep'
  | 'crash'
  | 'exit'
  | 'join'
  | 'cut'
  | 'cut-all'
  | 'slow'
  | 'late-answers'
  | 'double'
  | 'break-watches'
  | 'set-clock'
  | 'delete-lease'
  | 'delete-ring';

export interface Profile {
  readonly peers: number;
  readonly clusters: number;
  readonly quality: LinkQuality;
  readonly faults: number;
  readonly kinds: readonly FaultKind[];
  /** Mean time between two faults. */
  readonly everyMs: number;
  readonly faultMaxMs: number;
  /** Every fault ends when a peer is about to be declared dead. */
  readonly isOnEdge: boolean;
  readonly stepMaxMs: number;
  /** One of the clusters drains slowly. */
  readonly slowStepMaxMs: number;
  readonly idleMaxMs: number;
}

const common: readonly FaultKind[] = ['stop', 'crash', 'exit', 'join', 'cut'];
const rare: readonly FaultKind[] = [
  'sleep',
  'cut-all',
  'slow',
  'late-answers',
  'double',
  'break-watches',
  'set-clock',
  'delete-lease',
  'delete-ring',
];

export function drawProfile(random: Random): Profile {
  return chance(random, 0.2) ? edgeProfile(random) : anyProfile(random);
}

/** Peers return at the moment at which others declare them dead, over a slow network. */
const edgeProfile = (random: Random): Profile => ({
  peers: 2,
  clusters: 3,
  quality: { latencyMaxMs: 250, errorRate: 0, repeatRate: 0 },
  faults: 6,
  kinds: ['stop', 'cut'],
  everyMs: 12_000,
  faultMaxMs: 500,
  isOnEdge: true,
  stepMaxMs: 20,
  slowStepMaxMs: 20,
  idleMaxMs: 30 + random.below(40),
});

function anyProfile(random: Random): Profile {
  const kinds = [...common.filter(() => chance(random, 0.7)), ...rare.filter(() => chance(random, 0.25))];
  return {
    peers: 2 + random.below(3),
    clusters: 2 + random.below(4),
    quality: {
      latencyMaxMs: pick(random, [2, 10, 60, 250]),
      errorRate: pick(random, [0, 0, 0.02, 0.1]),
      repeatRate: pick(random, [0, 0.2]),
    },
    faults: 2 + random.below(7),
    kinds: kinds.length > 0 ? kinds : common,
    everyMs: pick(random, [1_000, 3_000, 8_000]),
    faultMaxMs: pick(random, [2_000, 14_000, 25_000]),
    isOnEdge: false,
    stepMaxMs: pick(random, [20, 200]),
    slowStepMaxMs: pick(random, [200, 2_500]),
    idleMaxMs: pick(random, [100, 900]),
  };
}
