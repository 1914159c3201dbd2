/** Converts the state of a service to a condition of the object that requests it. */

import { formatTime } from '@hangar/api/values';
import type { Condition } from '@hangar/client/kinds/meta-v1';
import type { Clock } from '@hangar/core';
import type { Service, ServiceState } from '../contract.ts';

/** One field manager per service: applying one condition never removes the other. */
export const fieldManagers: Readonly<Record<Service, string>> = {
  controllers: 'hangar-controller-manager/controllers',
  scheduler: 'hangar-controller-manager/scheduler',
};

export const conditionTypes: Readonly<Record<Service, string>> = {
  controllers: 'ControllersReady',
  scheduler: 'SchedulerReady',
};

/** Without the transition time, which depends on the previous condition. */
export type WantedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** The pattern that servers accept for a reason. */
const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const messageLengthMax = 1_024;

export function conditionOf(service: Service, { phase, reason, message }: ServiceState): WantedCondition {
  return {
    type: conditionTypes[service],
    status: phase === 'Ready' ? 'True' : 'False',
    reason: reasonPattern.test(reason) ? reason : phase,
    message: message.slice(0, messageLengthMax),
  };
}

export const isSameCondition = (one: WantedCondition, other: WantedCondition | undefined): boolean =>
  one.status === other?.status && one.reason === other.reason && one.message === other.message;

/** The transition time changes only with the status. */
export function conditionAfter(
  before: Condition | undefined,
  wanted: WantedCondition,
  clock: Pick<Clock, 'now'>,
): Condition {
  const now = (): string => formatTime(Math.floor(clock.now() / 1_000), 'second')!;
  return { ...wanted, lastTransitionTime: before?.status === wanted.status ? before.lastTransitionTime : now() };
}
