/** The Events of a HostedControlPlane: the transitions between two statuses. A fault that persists is recorded once. */

import { findCondition, isConditionTrue } from '@hangar/runtime';
import type { EventDetails } from '@hangar/runtime';
import type { HostedControlPlaneStatus } from '../api/index.ts';
import { stoppedCondition } from './conditions.ts';

/** Reasons of normal progress before a control plane is ready for the first time. */
const progress: ReadonlySet<string> = new Set([
  'DeploymentRollingOut',
  'MembersNotReady',
  'RouteNotAccepted',
  'WaitingForAPIServer',
  'WaitingForCluster',
  'WaitingForLoadBalancer',
  'WaitingForService',
]);

/** Reasons of a deletion that does not complete without help. */
const faultsOfDeletion: ReadonlySet<string> = new Set(['PodsNotTerminating', 'ReconcileError', 'WaitingForDependents']);

export function eventsBetween(
  before: HostedControlPlaneStatus | undefined,
  after: HostedControlPlaneStatus,
): EventDetails[] {
  const [old, now] = [findCondition(before?.conditions, 'Ready'), findCondition(after.conditions, 'Ready')];
  const events: EventDetails[] = [];
  if (before?.version !== undefined && after.version !== before.version) {
    events.push({ reason: 'Upgraded', note: `all components have version ${after.version}` });
  }
  if (now?.status === 'True' && old?.status !== 'True') {
    events.push({ reason: 'Ready', note: `the control plane is ready with version ${after.version}` });
  }
  if (
    now?.status === 'False' &&
    now.reason !== 'Deleting' &&
    now.reason !== stoppedCondition &&
    (old?.status === 'True' || (old?.reason !== now.reason && !progress.has(now.reason)))
  ) {
    events.push({ type: 'Warning', reason: 'NotReady', note: `${now.reason}: ${now.message}` });
  }
  if (isConditionTrue(after.conditions, stoppedCondition) && !isConditionTrue(before?.conditions, stoppedCondition)) {
    events.push({ reason: 'Stopped', note: findCondition(after.conditions, stoppedCondition)!.message });
  }
  const [deleting, next] = [findCondition(before?.conditions, 'Deleting'), findCondition(after.conditions, 'Deleting')];
  if (next && next.reason !== deleting?.reason) {
    if (faultsOfDeletion.has(next.reason)) events.push({ type: 'Warning', reason: next.reason, note: next.message });
    else if (!deleting) events.push({ reason: 'Deleting', note: next.message });
  }
  return events;
}
