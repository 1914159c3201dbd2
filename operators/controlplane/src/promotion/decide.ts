/**
 * Decides which control planes of a class should change their mode. Pure.
 *
 *     objects
 *     100,000 ─────────── toDedicated ──── at or above for the whole window: promote
 *                 band: stay in the current mode
 *      50,000 ─────────── toVirtual ────── all below for the whole window: return
 *
 * A change of the mode starts a window in which the control plane stays. The result does not depend on the order of the input.
 */

import type { ControlPlaneMode } from '../api/index.ts';
import type { History } from './history.ts';
import { metrics } from './policy.ts';
import type { Metric, PromotionPolicy } from './policy.ts';

export interface Candidate {
  readonly name: string;
  /** Absent: it is not measured, and stays. */
  readonly history: History | undefined;
  /** Time of its creation or of its last change of mode. */
  readonly changedAtMs: number;
  readonly isMigrating: boolean;
  /** It is dedicated because of promotion, or still on its way back: it counts for `maxDedicated`. */
  readonly isInBudget: boolean;
  /** The metric for which promotion made it dedicated. Absent: a user did. */
  readonly promotedFor?: Metric | undefined;
  /** Why its mode cannot change automatically, for users. */
  readonly obstacle?: string | undefined;
}

/** A threshold that is fulfilled. */
export interface Finding {
  readonly metric: Metric;
  readonly value: number;
  readonly limit: number;
}

export interface Decision {
  readonly name: string;
  readonly action: 'stay' | 'promote' | 'return';
  /** Present while the thresholds recommend another mode, even if nothing is done. */
  readonly recommended?: Recommended | undefined;
}

export interface Recommended {
  readonly to: ControlPlaneMode;
  /** The largest excess first. */
  readonly findings: readonly Finding[];
  /** Mode Automatic: why nothing is done now, for users. */
  readonly blocked?: string | undefined;
}

/** Metrics of the shared server. A dedicated control plane does not have them, so nothing shows that it could return. */
const onlyShared: ReadonlySet<Metric> = new Set<Metric>(['neighbourP99Ms', 'stallsPerHour']);

/** Decides for all control planes of one class, those that are not measured included: they count for the limits. */
export function decide(candidates: readonly Candidate[], policy: PromotionPolicy, nowMs: number): Decision[] {
  const slots = new Slots(candidates, policy);
  const wanted = candidates
    .map((candidate): Wanted => ({ candidate, recommended: recommendedFor(candidate, policy, nowMs) }))
    .sort(compare);
  return wanted.map(({ candidate, recommended }): Decision => {
    const { name } = candidate;
    if (!recommended) return { name, action: 'stay' };
    if (!policy.isAutomatic) return { name, action: 'stay', recommended };
    const blocked = slots.take(candidate, recommended.to);
    if (blocked !== undefined) return { name, action: 'stay', recommended: { ...recommended, blocked } };
    return { name, action: recommended.to === 'Dedicated' ? 'promote' : 'return', recommended };
  });
}

interface Wanted {
  readonly candidate: Candidate;
  readonly recommended: Recommended | undefined;
}

/** The limits of a class, as actions use them up. */
class Slots {
  readonly #policy: PromotionPolicy;
  #migrating: number;
  #dedicated: number;

  constructor(candidates: readonly Candidate[], policy: PromotionPolicy) {
    this.#policy = policy;
    this.#migrating = candidates.filter(({ isMigrating }) => isMigrating).length;
    this.#dedicated = candidates.filter(({ isInBudget }) => isInBudget).length;
  }

  /** Returns why the change must wait. Otherwise it uses the limits up. */
  take({ obstacle, promotedFor }: Candidate, to: ControlPlaneMode): string | undefined {
    const { maxDedicated, maxConcurrent } = this.#policy;
    if (obstacle !== undefined) return obstacle;
    if (to === 'Virtual' && promotedFor === undefined) return 'a user set the mode Dedicated';
    if (to === 'Dedicated' && this.#dedicated >= maxDedicated) {
      return `maxDedicated of the class is ${maxDedicated}, and ${this.#dedicated} control planes are dedicated`;
    }
    if (this.#migrating >= maxConcurrent) {
      return `maxConcurrent of the class is ${maxConcurrent}, and ${this.#migrating} control planes migrate`;
    }
    this.#migrating++;
    if (to === 'Dedicated') this.#dedicated++;
    return undefined;
  }
}

function recommendedFor(candidate: Candidate, policy: PromotionPolicy, nowMs: number): Recommended | undefined {
  const { history, changedAtMs, isMigrating, promotedFor } = candidate;
  if (!history || isMigrating) return undefined;
  const isStable = (sinceMs: number | undefined, windowMs: number): boolean =>
    sinceMs !== undefined && nowMs - Math.max(sinceMs, changedAtMs) >= windowMs;
  const { toDedicated, toVirtual } = policy;
  if (history.mode === 'Virtual') {
    const reached = metrics.filter((metric) => isStable(history.reachedSinceMs[metric], toDedicated.windowMs));
    const findings = reached.map((metric) => findingOf(history, metric, toDedicated.limits[metric]));
    return findings.length === 0 ? undefined : { to: 'Dedicated', findings: findings.sort(byExcess) };
  }
  if (!toVirtual || !isStable(history.belowSinceMs, toVirtual.windowMs)) return undefined;
  if (promotedFor !== undefined && onlyShared.has(promotedFor)) return undefined;
  const limited = metrics.filter((metric) => toVirtual.limits[metric] !== undefined);
  const findings = limited.map((metric) => findingOf(history, metric, toVirtual.limits[metric]));
  return { to: 'Virtual', findings: findings.sort(byExcess) };
}

const findingOf = ({ measured }: History, metric: Metric, limit = 1): Finding => ({
  metric,
  value: measured[metric] ?? 0,
  limit,
});

const ratioOf = ({ value, limit }: Finding): number => value / limit;
const byExcess = (a: Finding, b: Finding): number => ratioOf(b) - ratioOf(a);

/**
 * Promotions come first, the largest excess first. Returns follow, the smallest control plane first: they are not urgent, and they are not
 * delayed when the budget for promotions is used up.
 */
function compare(a: Wanted, b: Wanted): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  if (left !== right) return left < right ? -1 : 1;
  return a.candidate.name < b.candidate.name ? -1 : 1;
}

/** Negative for promotions, positive for returns. */
function rankOf({ recommended }: Wanted): number {
  if (!recommended) return Infinity;
  const ratio = ratioOf(recommended.findings[0]!);
  return recommended.to === 'Dedicated' ? -ratio : ratio;
}
