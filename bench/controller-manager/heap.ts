/** Reads the heap of a Node process over its inspector. */

import { openInspector } from '../inspector.ts';

export interface HeapUsage {
  /** Objects, after a full garbage collection. */
  readonly usedKiB: number;
  /** Buffers and other memory outside of the heap. */
  readonly backingKiB: number;
}

interface Usage {
  readonly usedSize: number;
  readonly backingStorageSize?: number;
}

/** `said`: the standard error of the process so far. */
export async function heapOf(pid: number, said: () => string): Promise<HeapUsage> {
  using inspector = await openInspector(pid, said);
  // Weakly held objects are collected in the second round.
  for (let round = 0; round < 3; round++) await inspector.call('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize = 0 } = await inspector.call<Usage>('Runtime.getHeapUsage');
  return { usedKiB: usedSize / 1024, backingKiB: backingStorageSize / 1024 };
}
