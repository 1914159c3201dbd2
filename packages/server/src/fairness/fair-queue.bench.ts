/**
 * `node packages/server/src/fairness/fair-queue.bench.ts`: the cost of fairness for a request that does not wait, alone in its turn of the
 * loop and as one of eight, with and without loaded flow schemas.
 */

import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import { requestInfo } from '../request/info.ts';
import { openTestPlane } from '../testing/open-server.ts';
import { FairQueue } from './fair-queue.ts';
import { TenantFairness } from './tenant-fairness.ts';

const rounds = 300_000;
const store = await openMemoryStore({ clock: systemClock });
const { plane, close } = await openTestPlane(store);
const tenants = {
  'before anything was read': { ...plane, name: 'tenant' },
  'with schemas, headers and levels': plane,
};
const info = requestInfo('GET', '/api/v1/namespaces/default/configmaps/a', false);
const user = { name: 'jane', uid: '', groups: ['dev', 'system:authenticated'], extra: {} };
const asked = { user, info, request: { passing: undefined } as never };
const answer = { status: 200, headers: { 'content-type': 'application/json' }, body: new Uint8Array(1_000) };

for (const [what, of] of Object.entries(tenants)) {
  const fairness = new TenantFairness({ queue: new FairQueue({ clock: systemClock }), plane: of });
  fairness.enter(asked).left(answer, undefined);
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (const atOnce of [1, 8]) {
    const measure = async (request: () => void): Promise<number> => {
      const begunMs = performance.now();
      for (let done = 0; done < rounds; done += atOnce) {
        for (let n = 0; n < atOnce; n++) request();
        await turn();
      }
      return ((performance.now() - begunMs) * 1_000) / rounds;
    };
    const request = (): void => {
      const entered = fairness.enter(asked);
      // If the machine was busy otherwise, the slice is used up.
      if (entered.waiting) void entered.waiting.then(() => entered.left(answer, undefined));
      else entered.left(answer, undefined);
    };
    let [best, bare] = [Infinity, Infinity];
    for (let round = 0; round < 5; round++) {
      bare = Math.min(bare, await measure(() => {}));
      best = Math.min(best, await measure(request));
    }
    console.log(`${what}, ${atOnce} in a turn: ${(best - bare).toFixed(2)} µs a request`);
  }
  fairness.close();
}
close();
await store.close();
