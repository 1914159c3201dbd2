/** Conditions of a HostedControlPlane, and its status after a pass. */

import { keyOf } from '@hangar/client';
import { autoscalingCondition, conditionOf } from '../autoscaling/report.ts';
import { formatSelector } from './selector.ts';
import { findCondition, isConditionTrue, removeCondition, setConditions } from '@hangar/runtime';
import type { Condition, NewCondition } from '@hangar/runtime';
import type { EtcdMemberStatus, HostedControlPlaneStatus } from '../api/index.ts';
import { inMebibytes } from '../etcd/alarms.ts';
import type { MemberHealth } from '../etcd/health.ts';
import type { Fault } from '../fault.ts';
import type { Pass, Verdict } from './pass.ts';
import { backupCondition, backupConditionOf } from './etcd-backup.ts';
import { rotationCondition } from './rotation.ts';

/** The phases in their order. */
export const phases = [
  'CACertificatesReady',
  'CABundleReady',
  'APIServerServiceReady',
  'SyncControlPlaneEndpointReady',
  'APIServerTLSRoutesReady',
  'CertificatesReady',
  'EtcdClusterReady',
  'InternalKubeconfigReady',
  'APIServerDeploymentsReady',
  'AdminKubeconfigReady',
  'WorkloadSetupReady',
] as const;

/** Exists while the annotation requests that no component runs. True when none does. */
export const stoppedCondition = 'Stopped';

export type Phase = (typeof phases)[number];

/** The phases that a pass reached: those without an entry were not reached. Undefined: complete. */
export type Outcomes = ReadonlyMap<Phase, Verdict | undefined>;

export const isComplete = (outcomes: Outcomes): boolean =>
  outcomes.size === phases.length && [...outcomes.values()].every((verdict) => verdict === undefined);

/** Returns the conditions of the phases, then Ready. */
export function phaseConditions(known: readonly Condition[] | undefined, outcomes: Outcomes): NewCondition[] {
  const failed = [...outcomes].find(([, verdict]) => verdict !== undefined);
  const conditions: NewCondition[] = [];
  for (const type of phases) {
    const verdict = outcomes.get(type);
    if (verdict) conditions.push(falseCondition(type, verdict));
    else if (outcomes.has(type)) conditions.push({ type, status: true, reason: 'Reconciled' });
    // A phase that was complete stays so: its objects still exist.
    else if (!isConditionTrue(known, type)) conditions.push(waiting(type, failed?.[0]));
  }
  const [blocked, verdict] = failed ?? [];
  const ready = verdict
    ? { type: 'Ready', status: false, reason: verdict.reason, message: `${blocked}: ${verdict.message}` }
    : { type: 'Ready', status: true, reason: 'Reconciled' };
  return [...conditions, ready];
}

const falseCondition = (type: string, { reason, message }: Fault): NewCondition => ({
  type,
  status: false,
  reason,
  message,
});

const waiting = (type: string, phase: string | undefined): NewCondition => ({
  type,
  status: 'Unknown',
  reason: 'Waiting',
  message: phase === undefined ? 'not reconciled yet' : `waiting for ${phase}`,
});

/** The conditions of the contract of Cluster API. */
function contractConditions({ apiServer, plane }: Pass): NewCondition[] {
  const desired = plane.spec.replicas ?? 2;
  const { replicas = 0, available = 0, updated = 0 } = apiServer ?? {};
  const when = (
    type: string,
    isTrue: boolean,
    [yes, no]: readonly [string, string],
    message: string,
  ): NewCondition => ({
    type,
    status: isTrue,
    reason: isTrue ? yes : no,
    message: isTrue === (type === 'Available') ? '' : message,
  });
  const counts = `${available} of ${desired} API servers are available`;
  return [
    when('Available', available > 0, ['Available', 'NotAvailable'], counts),
    when(
      'RollingOut',
      apiServer !== undefined && updated < replicas,
      ['RollingOut', 'NotRollingOut'],
      `${updated} of ${replicas} API servers are up to date`,
    ),
    when(
      'ScalingUp',
      apiServer !== undefined && replicas < desired,
      ['ScalingUp', 'NotScalingUp'],
      `${replicas} of ${desired} API servers exist`,
    ),
    when(
      'ScalingDown',
      apiServer !== undefined && replicas > desired,
      ['ScalingDown', 'NotScalingDown'],
      `${replicas} API servers exist, ${desired} are wanted`,
    ),
    { type: 'Paused', status: false, reason: 'NotPaused' },
  ];
}

const messageMax = 1_024;

/** Messages of other systems can be too long for a condition. */
const bounded = (message = ''): string =>
  message.length <= messageMax ? message : `${message.slice(0, messageMax - 1)}…`;

export function statusAfter(pass: Pass, outcomes: Outcomes): HostedControlPlaneStatus {
  const { hostedControlPlane, apiServer, plane, world } = pass;
  const { metadata, spec } = hostedControlPlane;
  const before = stillValid(pass);
  const observedGeneration = metadata.generation ?? 0;
  const report = world.autoscaler.reportOf(keyOf(hostedControlPlane));
  const said = [
    ...phaseConditions(before.conditions, outcomes),
    ...contractConditions(pass),
    ...(pass.authorities ? [rotationCondition(pass, isComplete(outcomes))] : []),
    ...(report && spec.autoscaling ? [conditionOf(report)] : []),
    ...(pass.etcdBackup ? [backupConditionOf(pass.etcdBackup)] : []),
  ];
  const conditions = said.map((one) => ({ ...one, message: bounded(one.message), observedGeneration }));
  const isInitialized = before.initialization?.controlPlaneInitialized === true || (apiServer?.ready ?? 0) > 0;
  return {
    ...before,
    ...(apiServer
      ? {
          selector: formatSelector(plane),
          replicas: apiServer.replicas,
          readyReplicas: apiServer.ready,
          availableReplicas: apiServer.available,
          upToDateReplicas: apiServer.updated,
          updatedReplicas: apiServer.updated,
          unavailableReplicas: Math.max(0, apiServer.desired - apiServer.available),
          ready: apiServer.available > 0,
        }
      : {}),
    ...(isInitialized ? { initialization: { controlPlaneInitialized: true }, initialized: true } : {}),
    ...(pass.etcdVolumeSize === undefined ? {} : { etcdVolumeSize: pass.etcdVolumeSize }),
    ...(pass.etcdVolumeUsage === undefined ? {} : { etcdVolumeUsage: pass.etcdVolumeUsage }),
    ...(pass.etcdMemberHealth === undefined ? {} : { etcdMembers: pass.etcdMemberHealth.map(memberStatus) }),
    ...(pass.etcdLastDefragTime === undefined ? {} : { etcdLastDefragTime: pass.etcdLastDefragTime }),
    ...(pass.etcdBackup?.lastTime === undefined ? {} : { etcdLastBackupTime: pass.etcdBackup.lastTime }),
    ...(pass.etcdBackup?.nextTime === undefined ? {} : { etcdNextBackupTime: pass.etcdBackup.nextTime }),
    ...(spec.autoscaling && report?.status ? { autoscaling: report.status } : {}),
    ...(pass.isVersionComplete ? { version: spec.version } : {}),
    ...(isComplete(outcomes) ? { rendering: pass.renderingVersion } : {}),
    externalManagedControlPlane: true,
    observedGeneration,
    conditions: setConditions(keptConditions(pass, before.conditions), conditions, world.clock),
  };
}

/** Without the conditions of features that the spec no longer has. */
function keptConditions({ plane: { spec } }: Pass, known: readonly Condition[] | undefined): readonly Condition[] {
  const running = removeCondition(known, stoppedCondition);
  const withAutoscaling = spec.autoscaling ? running : removeCondition(running, autoscalingCondition);
  return (spec.etcd?.backup ? withAutoscaling : removeCondition(withAutoscaling, backupCondition)) ?? [];
}

const memberStatus = ({
  name,
  id,
  role,
  isHealthy,
  version,
  dbSizeBytes,
  revision,
}: MemberHealth): EtcdMemberStatus => ({
  name,
  ...(id === undefined ? {} : { id }),
  role,
  healthy: isHealthy,
  ...(version === undefined ? {} : { version }),
  ...(dbSizeBytes === undefined ? {} : { dbSize: inMebibytes(dbSizeBytes) }),
  ...(revision === undefined ? {} : { revision }),
});

/** The known status, without fields that no longer apply. */
function stillValid({ hostedControlPlane: { status = {}, spec }, route }: Pass): HostedControlPlaneStatus {
  const { frontDoor, autoscaling, etcdNextBackupTime, ...rest } = status;
  const next = route ?? frontDoor ?? 'none';
  return {
    ...rest,
    ...(next === 'none' ? {} : { frontDoor: next }),
    ...(spec.autoscaling && autoscaling ? { autoscaling } : {}),
    ...(spec.etcd?.backup && etcdNextBackupTime !== undefined ? { etcdNextBackupTime } : {}),
  };
}

/** The status of an object that is not reconciled: paused, or with a fault of the object itself. */
export function statusWithout(
  { metadata, status: before = {} }: Pass['hostedControlPlane'],
  conditions: readonly NewCondition[],
  clock: Pick<Pass['world']['clock'], 'now'>,
): HostedControlPlaneStatus {
  const observedGeneration = metadata.generation ?? 0;
  const next = conditions.map((one) => ({ ...one, message: bounded(one.message), observedGeneration }));
  return { ...before, observedGeneration, conditions: setConditions(before.conditions, next, clock) };
}

/** The status of an object that is being deleted. `isUnavailable`: the deletion of the API servers has begun. */
export function deletionStatus(
  object: Pass['hostedControlPlane'],
  { reason, message }: Fault,
  isUnavailable: boolean,
  clock: Pick<Pass['world']['clock'], 'now'>,
): HostedControlPlaneStatus {
  const conditions: NewCondition[] = [
    { type: 'Deleting', status: true, reason, message },
    { type: 'Ready', status: false, reason: 'Deleting', message },
  ];
  if (isUnavailable) conditions.push({ type: 'Available', status: false, reason: 'Deleting', message: '' });
  return { ...statusWithout(object, conditions, clock), ...(isUnavailable ? { ready: false } : {}) };
}

export const wasReady = (conditions: readonly Condition[] | undefined, phase: Phase): boolean =>
  findCondition(conditions, phase)?.status === 'True';
