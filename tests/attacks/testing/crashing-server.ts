/**
 * `hangar up` in a separate process, with a failpoint: the requests of one user in one tenant fill the heap, or throw where nothing catches
 * it.
 *
 *     node crashing-server.ts '{"failpoint":"request x ada","how":"fill","args":["--data-dir=…"]}'
 */

import { Failpoints } from '@hangar/core';
import { up } from '../../../apps/platform/src/up/up.ts';

export interface CrashingServerOptions {
  readonly args: readonly string[];
  /** Absent: it does not crash. */
  readonly failpoint?: string;
  readonly how?: 'fill' | 'throw';
}

const ways = {
  fill: () => {
    const kept: object[] = [];
    for (;;) kept.push(Array.from({ length: 64 }, (_, at) => ({ at })));
  },
  throw: () => {
    // Not in the promise of the request, whose rejection is answered with 500.
    process.nextTick(() => {
      throw new Error('planted');
    });
  },
} as const;

const { args, failpoint, how = 'fill' } = JSON.parse(process.argv[2]!) as CrashingServerOptions;
const failpoints = new Failpoints();
if (failpoint !== undefined) failpoints.arm(failpoint, { run: ways[how] });
await up(args, failpoints);
