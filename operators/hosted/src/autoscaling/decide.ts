/**
 * The decision of the autoscaler after each measurement, as a pure function over its state. API servers are added at once, at most twice as
 * many or 4 more. They are removed one at a time, when fewer were sufficient for the whole delay: the highest recommendation of that time
 * counts. An unknown load, a start and a change by a user count as a recommendation of the current number.
 */

import { recommendedReplicas } from './recommend.ts';
import type { Load } from './recommend.ts';
import type { ScaleSettings } from './settings.ts';

export type ScaleReason =
  | 'WithinBounds'
  | 'AtMaximum'
  | 'AtMinimum'
  | 'ScalingUp'
  | 'ScalingDown'
  | 'MetricsUnavailable';

interface Recommendation {
  readonly atMs: number;
  readonly replicas: number;
}

export interface ScaleState {
  /** Of the time of the delay before a removal: each is higher than all later ones, so there are at most as many as numbers of API servers. */
  readonly history: readonly Recommendation[];
  /** The desired number after the last decision. */
  readonly replicas: number;
  readonly scaledAtMs: number;
  /** The direction of a change whose roll-out is not complete. */
  readonly progress?: 'ScalingUp' | 'ScalingDown' | undefined;
  /** Consecutive measurements that lack an API server. */
  readonly failures: number;
}

export interface ScaleInput {
  readonly nowMs: number;
  /** The desired number, spec.replicas. */
  readonly current: number;
  /** Absent: no API server was measured. */
  readonly load: Load | undefined;
  /** The measurement of a ready API server failed, or none is ready. */
  readonly hasFailed: boolean;
  /** Additional API servers can start. */
  readonly mayAdd: boolean;
  /** All components are up to date and ready, and nothing is being rotated. */
  readonly mayRemove: boolean;
}

export interface Decision {
  readonly state: ScaleState;
  readonly replicas: number;
  /** The highest recommendation of the time of the delay before a removal. */
  readonly recommended: number;
  readonly reason: ScaleReason;
}

/** Fewer consecutive failures are not reported. */
const failuresMax = 3;
/** Time between two removals: clients of the removed API server connect again. */
const removalIntervalMs = 60_000;

export function decide(before: ScaleState | undefined, input: ScaleInput, settings: ScaleSettings): Decision {
  const { nowMs, current, load, hasFailed, mayRemove } = input;
  const known = before ?? { history: [], replicas: current, scaledAtMs: -Infinity, failures: 0 };
  const isChanged = before === undefined || before.replicas !== current;
  const bounded = Math.min(current, settings.max);
  // One above the maximum says as much as two.
  const wanted = load ? Math.min(recommendedReplicas(current, load, settings.targets), settings.max + 1) : bounded;
  const recent = known.history.filter(({ atMs }) => nowMs - atMs < settings.scaleDownDelayMs);
  const history = added(recent, { atMs: nowMs, replicas: isChanged ? Math.max(wanted, bounded) : wanted });
  const recommended = history[0]!.replicas;
  const wish = { ...input, wanted, recommended, scaledAtMs: known.scaledAtMs };
  const replicas = nextReplicas(wish, settings);
  const progress = directionOf(current, replicas) ?? (mayRemove ? undefined : known.progress);
  const failures = hasFailed ? known.failures + 1 : 0;
  const scaledAtMs = replicas === current ? known.scaledAtMs : nowMs;
  return {
    state: { history, replicas, scaledAtMs, progress, failures },
    replicas,
    recommended,
    reason: progress ?? (failures >= failuresMax ? 'MetricsUnavailable' : levelOf(current, recommended, settings)),
  };
}

/** Drops earlier recommendations that are not higher. */
const added = (history: readonly Recommendation[], next: Recommendation): Recommendation[] => [
  ...history.filter(({ replicas }) => replicas > next.replicas),
  next,
];

const directionOf = (from: number, to: number): ScaleState['progress'] =>
  from === to ? undefined : to > from ? 'ScalingUp' : 'ScalingDown';

interface Wish extends ScaleInput {
  readonly wanted: number;
  readonly recommended: number;
  readonly scaledAtMs: number;
}

function nextReplicas(wish: Wish, { min, max, scaleUpDelayMs, scaleDownDelayMs }: ScaleSettings): number {
  const { nowMs, current, wanted, recommended, scaledAtMs, mayAdd, mayRemove } = wish;
  // Bounds do not depend on the load.
  if (current < min) return mayAdd ? min : current;
  if (current > max) return mayRemove ? max : current;
  const sinceMs = nowMs - scaledAtMs;
  if (wanted > current) {
    const reachable = Math.min(wanted, max, Math.max(2 * current, current + 4));
    return mayAdd && sinceMs >= scaleUpDelayMs ? reachable : current;
  }
  const isDue = sinceMs >= Math.min(removalIntervalMs, scaleDownDelayMs);
  return Math.max(recommended, min) < current && mayRemove && isDue ? current - 1 : current;
}

/** Depends on the highest recommendation, so that it does not change with every measurement. */
function levelOf(current: number, recommended: number, { min, max }: ScaleSettings): ScaleReason {
  if (recommended > max) return 'AtMaximum';
  return current === min && recommended <= min ? 'AtMinimum' : 'WithinBounds';
}
