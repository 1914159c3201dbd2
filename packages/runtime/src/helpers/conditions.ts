/**
 * Conditions of a status, with the rules of metav1.Condition: one of each type, in order of insertion; `lastTransitionTime` changes only
 * with `status`.
 *
 * Arguments are never changed: they may belong to a cache. Equal content returns the same array, so that `next !==
 * widget.status.conditions` reports whether a write is needed.
 */

import { formatTime } from '@hangar/api/values';
import type { Condition, ConditionStatus } from '@hangar/client/kinds/meta-v1';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';

export type { Condition, ConditionStatus };

/** A condition to set. */
export interface NewCondition {
  readonly type: string;
  /** A boolean stands for `True` or `False`. */
  readonly status: ConditionStatus | boolean;
  /** Reason in CamelCase. Required by the API. */
  readonly reason: string;
  /** Absent: ''. */
  readonly message?: string | undefined;
  /** `metadata.generation` of the object that was evaluated. Absent: removes the field. */
  readonly observedGeneration?: number | undefined;
  /** Absent: the current time if the status changes. */
  readonly lastTransitionTime?: string | undefined;
}

/** Also matches kinds with a separate condition type. */
interface Typed {
  readonly type: string;
  readonly status: string;
}

/**
 * Returns the conditions with one of them set. Keeps `lastTransitionTime` if the status does not change, and returns the same array if
 * nothing changes.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  next: NewCondition,
  clock: Pick<Clock, 'now'> = systemClock,
): Condition[] {
  const all = conditions ?? [];
  const at = all.findIndex(({ type }) => type === next.type);
  const before = all[at];
  const after = conditionAfter(before, next, clock);
  if (before && isSame(before, after)) return all as Condition[];
  return before ? all.with(at, after) : [...all, after];
}

/** Sets several conditions. See `setCondition`. */
export const setConditions = (
  conditions: readonly Condition[] | undefined,
  next: readonly NewCondition[],
  clock: Pick<Clock, 'now'> = systemClock,
): Condition[] =>
  next.reduce<Condition[]>((all, one) => setCondition(all, one, clock), (conditions ?? []) as Condition[]);

/** Returns the conditions without the given type. Returns the same array if it has no such condition. */
export function removeCondition<C extends Typed>(conditions: readonly C[] | undefined, type: string): C[] {
  const all = (conditions ?? []) as C[];
  return all.some((one) => one.type === type) ? all.filter((one) => one.type !== type) : all;
}

/** Returns the condition of this type. */
export const findCondition = <C extends Typed>(conditions: readonly C[] | undefined, type: string): C | undefined =>
  conditions?.find((one) => one.type === type);

/** Returns whether the condition exists and has this status. */
export const hasConditionStatus = (
  conditions: readonly Typed[] | undefined,
  type: string,
  status: ConditionStatus,
): boolean => findCondition(conditions, type)?.status === status;

/** Returns whether the condition exists and its status is `True`. */
export const isConditionTrue = (conditions: readonly Typed[] | undefined, type: string): boolean =>
  hasConditionStatus(conditions, type, 'True');

/** Returns whether the condition exists and its status is `False`. */
export const isConditionFalse = (conditions: readonly Typed[] | undefined, type: string): boolean =>
  hasConditionStatus(conditions, type, 'False');

function conditionAfter(
  before: Condition | undefined,
  { type, status, reason, message = '', observedGeneration, lastTransitionTime }: NewCondition,
  clock: Pick<Clock, 'now'>,
): Condition {
  const text = typeof status === 'string' ? status : status ? 'True' : 'False';
  const movedAt = before?.status === text ? before.lastTransitionTime : (lastTransitionTime ?? timeText(clock));
  return {
    type,
    status: text,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: movedAt,
    reason,
    message,
  };
}

const isSame = (a: Condition, b: Condition): boolean =>
  a.status === b.status &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.observedGeneration === b.observedGeneration &&
  a.lastTransitionTime === b.lastTransitionTime;

const timeText = (clock: Pick<Clock, 'now'>): string => formatTime(Math.floor(clock.now() / 1000), 'second')!;
