/** The figures of a control plane for metrics, from the results of a pass. */

import { expiresAt } from '@hangar/pki';
import { findCondition, isConditionTrue } from '@hangar/runtime';
import { annotations } from '../api/index.ts';
import type { HostedControlPlane, HostedControlPlaneStatus } from '../api/index.ts';
import { autoscalingCondition } from '../autoscaling/report.ts';
import type { PlaneFigures } from '../metrics/hosted-metrics.ts';
import { phases } from './conditions.ts';
import type { Pass } from './pass.ts';

/** The phase of faults of the object itself. */
const beforePhases = 'Preconditions';
const reported = ['Ready', 'Available', 'RollingOut', 'CertificatesRotating', 'Paused'];

/** `pass`: absent for an object that is not reconciled. */
export function figuresOf(
  { metadata, spec }: HostedControlPlane,
  status: HostedControlPlaneStatus,
  pass?: Pick<Pass, 'etcdMembers' | 'expirations'>,
): PlaneFigures {
  const { conditions, version = '', readyReplicas = 0, availableReplicas = 0, upToDateReplicas = 0 } = status;
  return {
    conditions: Object.fromEntries(
      [...reported, ...(findCondition(conditions, autoscalingCondition) ? [autoscalingCondition] : [])].map((type) => [
        type,
        isConditionTrue(conditions, type),
      ]),
    ),
    blocked: blockedBy(status),
    info: { version, desired_version: spec.version, rendering: metadata.annotations?.[annotations.rendering] ?? '' },
    apiServers: {
      desired: spec.replicas ?? 2,
      ready: readyReplicas,
      available: availableReplicas,
      updated: upToDateReplicas,
    },
    etcdMembers: pass?.etcdMembers && { ...pass.etcdMembers },
    expirations: pass && pass.expirations.size > 0 ? pass.expirations : undefined,
  };
}

function blockedBy({ conditions }: HostedControlPlaneStatus): PlaneFigures['blocked'] {
  const ready = findCondition(conditions, 'Ready');
  if (ready?.status !== 'False') return undefined;
  const phase = phases.find((type) => {
    const { status, reason } = findCondition(conditions, type) ?? {};
    return status === 'False' && reason === ready.reason;
  });
  return { phase: phase ?? beforePhases, reason: ready.reason };
}

/** Notes when a certificate expires. Of several with the same name, the first one to expire counts. */
export function noteExpiration({ expirations }: Pick<Pass, 'expirations'>, name: string, certificate: string): void {
  try {
    expirations.set(name, Math.min(expirations.get(name) ?? Infinity, expiresAt(certificate)));
  } catch {
    // Not a certificate: its phase reports it.
  }
}

/**
 * Returns the seconds from the creation to the first time that the control plane is Ready, or undefined if this is not the first time. The
 * condition Ready is written with the first status, so one that is as old as the oldest condition was never True before.
 */
export function secondsToReady(
  { metadata, status: before }: HostedControlPlane,
  after: HostedControlPlaneStatus,
  nowMs: number,
): number | undefined {
  const old = findCondition(before?.conditions, 'Ready');
  if (!isConditionTrue(after.conditions, 'Ready') || old?.status === 'True') return undefined;
  const times = (before?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime);
  const isFirst = old === undefined || times.every((time) => time >= old.lastTransitionTime);
  const createdMs = Date.parse(metadata.creationTimestamp ?? '');
  return isFirst && Number.isFinite(createdMs) ? Math.max(0, (nowMs - createdMs) / 1_000) : undefined;
}
