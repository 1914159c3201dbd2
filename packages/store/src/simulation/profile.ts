/** The parameters of a seed's world: drawn first and from a separate stream, so that worlds differ in kind, not only in random events. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { HistoryPolicy } from '../engine/history-window.ts';
import type { StepLengths } from '../engine/mvcc-store.ts';

export interface Profile {
  /** Number of starts of the process; between two lives it crashes or is closed. */
  readonly lives: number;
  readonly lifeMaxMs: number;
  readonly tenants: number;
  /** Number of clients for each universe. */
  readonly writers: number;
  readonly readers: number;
  readonly watchers: number;
  readonly leaseUsers: number;
  readonly restorers: number;
  /** For the whole store: two of them conflict with each other. */
  readonly compactors: number;
  readonly keys: number;
  readonly thinkMaxMs: number;
  readonly valueBytesMax: number;
  readonly diskLatencyMaxMs: number;
  /** Probability that a disk call fails. */
  readonly diskErrorRate: number;
  /** The disk is sometimes full or read-only. */
  readonly diskRefuses: boolean;
  readonly watchQueueLengthMax: number;
  readonly journalBytesMin: number;
  readonly history: HistoryPolicy;
  readonly steps: StepLengths;
}

export function drawProfile(random: Random): Profile {
  const tenants = pick(random, [0, 0, 1, 2, 3]);
  const thinkMaxMs = pick(random, [10, 60, 150]);
  return {
    lives: 1 + random.below(5),
    lifeMaxMs: thinkMaxMs * pick(random, [8, 16, 28]),
    tenants,
    writers: tenants > 1 ? 2 : 2 + random.below(3),
    readers: 1,
    watchers: tenants > 1 ? 1 : 1 + random.below(3),
    leaseUsers: random.below(2),
    compactors: random.below(3),
    keys: 4 + random.below(9),
    thinkMaxMs,
    valueBytesMax: pick(random, [0, 40, 700, 2_000]),
    diskLatencyMaxMs: pick(random, [0.2, 2, 10, 30]),
    diskErrorRate: pick(random, [0, 0, 0.02, 0.06]),
    diskRefuses: chance(random, 0.3),
    watchQueueLengthMax: 1 + random.below(4),
    journalBytesMin: pick(random, [256, 3_000, 1_000_000]),
    // Never so short that the auditors, which read at once, could miss the expiry of a lease.
    history: { ageMs: pick(random, [200, 1_000, 1_000_000]), revisionsMax: pick(random, [250, 1_000_000]) },
    steps: stepsOf(random),
    restorers: restorersOf(random),
  };
}

/** Drawn last and between these bounds, so that the known seeds in `simulation.test.ts` keep their worlds. */
function restorersOf(random: Random): number {
  const drawn = random.fraction();
  return drawn > 0.2 && drawn < 0.6 ? 1 : 0;
}

/** Without separate draws for `previous` and `batch`, so that known seeds keep their worlds. */
function stepsOf(random: Random): StepLengths {
  const [range, history, obsolete] = [1 + random.below(9), 1 + random.below(9), 1 + random.below(20)];
  return { range, history, previous: history, batch: history, obsolete };
}
