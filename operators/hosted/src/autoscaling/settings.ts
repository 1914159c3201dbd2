/** The settings of an autoscaler as numbers, from the spec. */

import { parseDuration, parseQuantity } from '@hangar/api/values';
import type { AutoscalingSpec } from '../api/index.ts';

export interface ScaleTargets {
  /** Requests at the same time, on average over the API servers. */
  readonly inFlight?: number | undefined;
  /** Cores, on average over the API servers. */
  readonly cpuCores?: number | undefined;
  /** 99th percentile of the duration of requests. */
  readonly latencySeconds?: number | undefined;
}

export interface ScaleSettings {
  readonly min: number;
  readonly max: number;
  readonly targets: ScaleTargets;
  readonly scaleUpDelayMs: number;
  readonly scaleDownDelayMs: number;
}

const defaultMin = 2;
/** A quarter of the default of --max-requests-inflight. */
const defaultInFlight = 100;
const msNs = 1_000_000;

const millis = (text: string): number => Number(parseDuration(text)) / msNs;

export function scaleSettings(spec: AutoscalingSpec): ScaleSettings {
  const { maxReplicas: max, minReplicas: min = Math.min(defaultMin, max), targetLatency, targetCPU } = spec;
  const { targetInFlightRequests, scaleUpDelay = '30s', scaleDownDelay = '5m' } = spec;
  const hasTarget = targetInFlightRequests !== undefined || targetCPU !== undefined || targetLatency !== undefined;
  return {
    min,
    max,
    targets: {
      inFlight: hasTarget ? targetInFlightRequests : defaultInFlight,
      cpuCores: targetCPU === undefined ? undefined : Number(parseQuantity(String(targetCPU)).nanos) / 1e9,
      latencySeconds: targetLatency === undefined ? undefined : millis(targetLatency) / 1_000,
    },
    scaleUpDelayMs: millis(scaleUpDelay),
    scaleDownDelayMs: millis(scaleDownDelay),
  };
}
