/**
 * The Events of a ControlPlane: what changed between two statuses, in plain words. An event stands for a transition, so a pass that finds
 * everything as it was records nothing, and a control plane that fails again and again for the same reason is recorded once.
 */

import { findCondition } from '@hangar/runtime';
import type { EventDetails } from '@hangar/runtime';
import type { ControlPlaneStatus, DeletionPolicy } from '../api/index.ts';
import { migrationEvents } from '../migration/events.ts';

/** In the order in which they happened. */
export function eventsBetween(before: ControlPlaneStatus | undefined, after: ControlPlaneStatus): EventDetails[] {
  const events: EventDetails[] = [];
  if (before?.phase === undefined)
    events.push({ reason: 'Created', note: 'accepted the control plane for provisioning' });
  const { kubeconfigSecretRef: secret } = after;
  if (secret && !before?.kubeconfigSecretRef) {
    const note = `the API is available; the kubeconfigs are in Secret "${secret.namespace}/${secret.name}"`;
    events.push({ reason: 'Provisioned', note });
  }
  events.push(...migrationEvents(before?.migration, after.migration));
  const transition = transitionOf(before, after);
  if (transition) events.push(transition);
  return events;
}

/** The last event of a control plane. */
export function deletedEvent(policy: DeletionPolicy | undefined): EventDetails {
  const data = { Destroy: ', including all data', Retain: ', data retained' };
  return { reason: 'Deleted', note: `deleted the control plane${policy ? data[policy] : ''}` };
}

/** Reasons of passes that failed, as opposed to those that wait for something. */
const failures: ReadonlySet<string> = new Set(['HostUnavailable', 'ControlPlaneUnreachable', 'ReconcileError']);

function transitionOf(before: ControlPlaneStatus | undefined, after: ControlPlaneStatus): EventDetails | undefined {
  const { reason = '', message = '' } = unmet(after) ?? {};
  if (after.phase === before?.phase && reason === ((before && unmet(before)?.reason) ?? '')) return undefined;
  const warning = (event: string): EventDetails => ({ type: 'Warning', reason: event, note: `${reason}: ${message}` });
  switch (after.phase) {
    case 'Ready':
      if (reason !== '') return warning('ReconcileFailed');
      if (before?.phase === 'Suspended')
        return { reason: 'Resumed', note: `the control plane is available again${at(after)}` };
      return before?.phase === 'Ready' || before?.phase === 'Migrating'
        ? undefined
        : { reason: 'Ready', note: `the control plane is ready${at(after)}` };
    case 'Migrating':
      return reason === '' ? undefined : warning('ReconcileFailed');
    case 'Suspended':
      return { reason: 'Suspended', note: message };
    case 'Failed':
      return warning('Failed');
    case 'Deleting':
      if (reason === 'DeletionDelayed') return warning('DeletionDelayed');
      return before?.phase === 'Deleting'
        ? undefined
        : { reason: 'Deleting', note: 'the control plane is being deleted' };
    default:
      if (failures.has(reason)) return warning('ReconcileFailed');
      // Waiting for something is normal before the first time that it is ready.
      return before?.phase === 'Ready' ? warning('NotReady') : undefined;
  }
}

const at = ({ endpoint }: ControlPlaneStatus): string => (endpoint ? ` at ${endpoint}` : '');

/** The first condition that is not fulfilled: those behind it have the same reason. */
const unmet = ({ conditions }: ControlPlaneStatus) =>
  ['Accepted', 'Programmed', 'Ready']
    .map((type) => findCondition(conditions, type))
    .find((condition) => condition !== undefined && condition.status !== 'True');
