/** The report of an autoscaler in the status and in the metrics of its control plane. */

import { canonicalQuantity, formatTime } from '@hangar/api/values';
import type { NewCondition } from '@hangar/runtime';
import type { AutoscalingLoad, AutoscalingStatus } from '../api/index.ts';
import type { AutoscalingFigures } from '../metrics/autoscaling-metrics.ts';
import type { Decision, ScaleReason } from './decide.ts';
import type { Measurement } from './measure.ts';
import type { Load } from './recommend.ts';
import type { ScaleSettings } from './settings.ts';

export const autoscalingCondition = 'AutoscalingActive';

/** The last change of the number of API servers. */
export interface LastScale {
  readonly from: number;
  readonly to: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly load: Load | undefined;
}

/** Without measurements, so that it changes only when the number or its reason does. */
export interface AutoscalingReport {
  readonly reason: ScaleReason;
  readonly message: string;
  /** Of the last change by this process. Absent: none. */
  readonly status: AutoscalingStatus | undefined;
}

interface ReportInput {
  readonly decision: Decision;
  readonly settings: ScaleSettings;
  readonly fault: string | undefined;
  readonly last: LastScale | undefined;
}

export function reportOf({
  decision: { reason },
  settings: { min, max },
  fault,
  last,
}: ReportInput): AutoscalingReport {
  const scaling = last ? `scaling from ${last.from} to ${last.to} API servers` : '';
  const messages: Readonly<Record<ScaleReason, string>> = {
    WithinBounds: '',
    AtMinimum: `minReplicas (${min}) API servers are sufficient for the load`,
    AtMaximum: `the load requires more than maxReplicas (${max}) API servers`,
    ScalingUp: scaling,
    ScalingDown: scaling,
    MetricsUnavailable: `${fault ?? 'API servers cannot be measured'}; the number of API servers is only kept within its bounds`,
  };
  return { reason, message: messages[reason], status: last && statusOf(last) };
}

export const conditionOf = ({ reason, message }: AutoscalingReport): NewCondition => ({
  type: autoscalingCondition,
  status: reason !== 'MetricsUnavailable',
  reason,
  message,
});

const statusOf = ({ to, atMs, load }: LastScale): AutoscalingStatus => ({
  desiredReplicas: to,
  lastScaleTime: formatTime(Math.floor(atMs / 1_000), 'second')!,
  ...(load ? { lastScaleLoad: loadStatus(load) } : {}),
});

function loadStatus({ inFlight, cpuCores, measured, latencySeconds }: Load): AutoscalingLoad {
  const milli = (value: number): string => canonicalQuantity(`${Math.round(value * 1_000)}m`);
  return {
    inFlightRequests: milli(inFlight / measured),
    cpu: milli(cpuCores / measured),
    ...(latencySeconds === undefined ? {} : { latency: `${Math.round(latencySeconds * 1_000)}ms` }),
  };
}

export function figuresOf(
  decision: Decision,
  { load, ready }: Measurement,
  settings: ScaleSettings,
): AutoscalingFigures {
  const { min, max } = settings;
  const { replicas: desired, recommended } = decision;
  return {
    replicas: { min, max, desired, recommended },
    unmeasured: ready - (load?.measured ?? 0),
    load: load && { inFlight: load.inFlight / load.measured, cpuCores: load.cpuCores / load.measured },
    latencySeconds: load?.latencySeconds,
  };
}
