/**
 * How many API servers a load requires: the ratio of the load to its target, as the HorizontalPodAutoscaler computes it. With several
 * targets, the largest result counts.
 *
 *     2 API servers, 150 requests in flight each, target 100: ratio 1.5, 3 API servers
 *     2 API servers, 105 requests in flight each, target 100: within the tolerance, 2 API servers
 *     2 API servers, of which one was not measured, 80 requests in flight in the other, target 100: 2 API servers, because
 *       an unknown load is no reason to remove one
 */

import type { ScaleTargets } from './settings.ts';

/** A ratio within 10 % of 1 changes nothing. */
const tolerance = 0.1;
/** API servers are removed while the latency is below this part of its target: it grows faster than the load of each API server. */
const latencyPart = 0.5;

/** The load of all ready API servers of a control plane. */
export interface Load {
  /** Ready API servers. */
  readonly ready: number;
  /** Ready API servers that were measured. Sums are over these. */
  readonly measured: number;
  readonly inFlight: number;
  readonly cpuCores: number;
  /** 99th percentile over all API servers. Absent: too few requests to say. */
  readonly latencySeconds?: number | undefined;
}

/** Returns the required number of API servers, without bounds. `current`: the desired number. */
export function recommendedReplicas(current: number, load: Load, targets: ScaleTargets): number {
  const { inFlight, cpuCores, latencySeconds } = targets;
  const results = [
    ...(inFlight === undefined ? [] : [byUsage(current, load, load.inFlight / inFlight)]),
    ...(cpuCores === undefined ? [] : [byUsage(current, load, load.cpuCores / cpuCores)]),
    ...(latencySeconds === undefined ? [] : [byLatency(current, load, latencySeconds)]),
  ];
  const wanted = results.length === 0 ? current : Math.max(1, ...results);
  return load.measured < load.ready ? Math.max(wanted, current) : wanted;
}

/** `needed`: the load as a number of API servers at their target. API servers that were not measured count as idle. */
function byUsage(current: number, { ready }: Load, needed: number): number {
  const ratio = needed / ready;
  if (Math.abs(ratio - 1) <= tolerance) return current;
  const wanted = Math.ceil(needed);
  // Fewer API servers are ready than desired: those that start take over a part of the load.
  const isContradiction = ratio > 1 ? wanted < current : wanted > current;
  return isContradiction ? current : wanted;
}

function byLatency(current: number, { ready, latencySeconds = 0 }: Load, target: number): number {
  const ratio = latencySeconds / target;
  if (ratio > 1 + tolerance) return Math.max(current, Math.ceil(ratio * ready));
  return ratio < latencyPart ? current - 1 : current;
}
