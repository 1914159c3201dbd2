/** testing: processor time, for tests that bound it: unlike elapsed time, it is the same on a busy machine. */

import type { TestContext } from 'node:test';

/** Starts a measurement; each call of the result returns the milliseconds of this thread since then. */
export function cpuTime(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
}

/**
 * Replaces the processor time of this thread until the test ends: read number `read`, from 1, is `stepMs(read)` later than the read before
 * it. Returns the number of reads.
 */
export function steppedCpuTime({ mock }: TestContext, stepMs: (read: number) => number): () => number {
  let reads = 0;
  let nowUs = 0;
  mock.method(process, 'threadCpuUsage', () => ({ user: (nowUs += stepMs(++reads) * 1_000), system: 0 }));
  return () => reads;
}
