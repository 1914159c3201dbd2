/** What kind of world a seed makes: drawn first and from a stream of its own, so that worlds differ in kind, not only in luck. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { HistoryPolicy } from '../engine/history-window.ts';
import type { StepLengths } from '../engine/mvcc-store.ts';

export interface Profile {
  /** How often the process starts; between two lives it crashes or is closed. */
  readonly lives: number;
  readonly lifeMaxMs: number;
  readonly tenants: number;
  /** Clients, for each universe. */
  readonly writers: number;
  readonly readers: number;
  readonly watchers: number;
  readonly leaseUsers: number;
  /** For the whole store: two of them get in each other's way. */
  readonly compactors: number;
  readonly keys: number;
  readonly thinkMaxMs: number;
  readonly valueBytesMax: number;
  readonly diskLatencyMaxMs: number;
  /** The probability that a disk call fails. */
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
    // Never so short that the auditors, who read at once, could miss the end of a lease.
    history: { ageMs: pick(random, [200, 1_000, 1_000_000]), revisionsMax: pick(random, [250, 1_000_000]) },
    steps: stepsOf(random),
  };
}

/** Without a draw of its own for `batch`: the seeds that are known stay what they are. */
function stepsOf(random: Random): StepLengths {
  const [range, history, obsolete] = [1 + random.below(9), 1 + random.below(9), 1 + random.below(20)];
  return { range, history, batch: history, obsolete };
}
