/**
 * The history of a control plane: since when each threshold is reached without interruption. It is in memory only: after a restart, the
 * stabilization windows start again.
 */

import type { ControlPlaneMode } from '../api/index.ts';
import { metrics } from './policy.ts';
import type { Direction, Measurements, Metric, PromotionPolicy } from './policy.ts';

export interface History {
  readonly mode: ControlPlaneMode;
  /** Time of the last measurement. */
  readonly atMs: number;
  /** Mode Virtual: since when the limit of each metric is reached. */
  readonly reachedSinceMs: Readonly<Partial<Record<Metric, number>>>;
  /** Mode Dedicated: since when all metrics are below their limits. */
  readonly belowSinceMs?: number | undefined;
  readonly measured: Measurements;
}

/** Without a measurement for longer than this, a window starts again. */
export const gapMaxMs = 300_000;

export interface Measured {
  readonly mode: ControlPlaneMode;
  readonly measured: Measurements;
  readonly nowMs: number;
}

/** Returns the history with a new measurement. */
export function withMeasurement(
  before: History | undefined,
  { mode, measured, nowMs }: Measured,
  policy: PromotionPolicy,
): History {
  const isContinued = before?.mode === mode && nowMs - before.atMs <= gapMaxMs;
  const known = isContinued ? before : undefined;
  if (mode === 'Virtual') {
    const reached = reachedIn(measured, policy.toDedicated.limits);
    const since = reached.map((metric) => [metric, known?.reachedSinceMs[metric] ?? nowMs]);
    return { mode, atMs: nowMs, measured, reachedSinceMs: Object.fromEntries(since) };
  }
  const belowSinceMs = isBelow(measured, policy.toVirtual) ? (known?.belowSinceMs ?? nowMs) : undefined;
  return { mode, atMs: nowMs, measured, reachedSinceMs: {}, belowSinceMs };
}

const reachedIn = (measured: Measurements, limits: Measurements): Metric[] =>
  metrics.filter((metric) => {
    const [value, limit] = [measured[metric], limits[metric]];
    return value !== undefined && limit !== undefined && value >= limit;
  });

/** An unknown value is not below its limit. */
function isBelow(measured: Measurements, direction: Direction | undefined): boolean {
  const limited = metrics.filter((metric) => direction?.limits[metric] !== undefined);
  return limited.length > 0 && limited.every((metric) => (measured[metric] ?? Infinity) < direction!.limits[metric]!);
}
