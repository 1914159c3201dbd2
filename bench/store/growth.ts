/** Does a read cost more when there is more that it does not read? Random gets, and ranges of 100, over all tenants. */

import { seededRandom } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { Store, Write } from '@hangar/store';
import { keyOf, valueBytes } from './load.ts';

export interface ReadCost {
  readonly getUs: number;
  readonly rangeUs: number;
}

/** Adds keys with the largest transactions there are: filling is not what is measured. */
export async function fill(store: Store, from: number, to: number): Promise<void> {
  for (let n = from; n < to;) {
    const commits: Promise<unknown>[] = [];
    for (let group = 0; group < 8 && n < to; group++) {
      const writes: Write[] = [];
      for (; writes.length < 128 && n < to; n++)
        writes.push({ type: 'put', key: keyOf(n), value: Buffer.alloc(valueBytes, n) });
      commits.push(store.commit(writes));
    }
    await Promise.all(commits);
  }
}

/** The median of several rounds: one checkpoint in between must not decide. */
export async function readCost(store: Store, keys: number): Promise<ReadCost> {
  const random = seededRandom(keys);
  const rounds: ReadCost[] = [];
  for (let round = 0; round < 7; round++) {
    rounds.push({
      getUs: await timed(4_000, () => store.get(keyOf(random.below(keys)))),
      rangeUs: await timed(30, async () => {
        const prefix = `/registry/clusters/tenant-${random.below(100)}/configmaps/`;
        await store.range(prefixRange(prefix), { limit: 100 });
      }),
    });
  }
  return { getUs: median(rounds.map((one) => one.getUs)), rangeUs: median(rounds.map((one) => one.rangeUs)) };
}

async function timed(times: number, action: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  for (let n = 0; n < times; n++) await action();
  return ((performance.now() - startedMs) / times) * 1000;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}
