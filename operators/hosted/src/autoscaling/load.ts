/** The load of API servers between two samples of each. */

import type { Sample } from './exposition.ts';
import type { Load } from './recommend.ts';

/** A sample of one process at a time. */
export interface TimedSample extends Sample {
  /** Of a clock that only grows. */
  readonly atMs: number;
}

/** The load of one API server. */
export interface PodLoad {
  readonly inFlight: number;
  readonly cpuCores: number;
  /** Cumulative counts of the requests between the samples, by the upper bound of their duration in seconds. */
  readonly buckets: ReadonlyMap<number, number>;
}

/** Fewer requests have no meaningful 99th percentile. */
const requestsMin = 50;

/** Returns undefined if the process was replaced between the samples. */
export function loadBetween(before: TimedSample, after: TimedSample): PodLoad | undefined {
  const seconds = (after.atMs - before.atMs) / 1_000;
  if (seconds <= 0 || after.cpuSeconds < before.cpuSeconds) return undefined;
  const buckets = new Map<number, number>();
  for (const [upper, count] of after.buckets) {
    buckets.set(upper, Math.max(0, count - (before.buckets.get(upper) ?? 0)));
  }
  return { inFlight: after.inFlight, cpuCores: (after.cpuSeconds - before.cpuSeconds) / seconds, buckets };
}

/** Returns the load of all API servers, or undefined if none was measured. `ready`: their number, with those that were not measured. */
export function totalLoad(pods: readonly PodLoad[], ready: number): Load | undefined {
  if (pods.length === 0) return undefined;
  const buckets = new Map<number, number>();
  for (const pod of pods) {
    for (const [upper, count] of pod.buckets) buckets.set(upper, (buckets.get(upper) ?? 0) + count);
  }
  const sum = (of: (pod: PodLoad) => number): number => pods.reduce((total, pod) => total + of(pod), 0);
  return {
    ready,
    measured: pods.length,
    inFlight: sum(({ inFlight }) => inFlight),
    cpuCores: sum(({ cpuCores }) => cpuCores),
    latencySeconds: quantile(0.99, buckets),
  };
}

/** Interpolates in the bucket of the quantile, as PromQL does. Undefined: too few requests. */
export function quantile(part: number, cumulative: ReadonlyMap<number, number>): number | undefined {
  const sorted = [...cumulative].toSorted(([a], [b]) => a - b);
  const total = sorted.at(-1)?.[1] ?? 0;
  if (total < requestsMin) return undefined;
  const rank = part * total;
  let [lower, below] = [0, 0];
  for (const [upper, count] of sorted) {
    if (count >= rank) {
      if (upper === Infinity || count === below) return lower;
      return lower + ((upper - lower) * (rank - below)) / (count - below);
    }
    [lower, below] = [upper, count];
  }
  return lower;
}
