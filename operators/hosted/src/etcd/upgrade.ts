/**
 * Decides on the version of etcd that a control plane runs next. A change of the minor version is an upgrade with a record, so that an
 * operator that restarts continues it:
 *
 *     no record ─► Snapshot ─► Rolling ─► no record            all members work with the new version
 *                                 └─────► no record, failed    a member does not work with it: the previous version returns
 *
 * etcd itself keeps the data format of the previous version until the last member runs the new one, so a return before that loses no data.
 * Afterwards only the snapshot can return to the previous version. It is restored only if etcd has no quorum: a single member that does not
 * work is replaced instead.
 */

import type { Fault } from '../fault.ts';
import { versionStep } from './version-step.ts';

/** In the annotation `hosted.hangar.dev/etcd-upgrade`. Versions are tags of the image. */
export interface UpgradeRecord {
  readonly from: string;
  readonly to: string;
  readonly phase: 'Snapshot' | 'Rolling';
  /** Name of the ControlPlaneBackup. */
  readonly backup: string;
}

/** `unavailable`: the management cluster cannot make one. */
export type SnapshotState = 'pending' | 'complete' | 'unavailable' | Fault;

export interface UpgradeInputs {
  /** Tag that the StatefulSet has. */
  readonly current: string;
  /** Tag that the spec, or the default for the version of Kubernetes, requests. */
  readonly wanted: string;
  readonly record?: UpgradeRecord | undefined;
  /** Tag of the last upgrade that went back. */
  readonly failed?: string | undefined;
  /** All members are ready with the current template, and no alarm is raised. */
  readonly isCalm: boolean;
  /** Of the record. */
  readonly snapshot: SnapshotState;
  /** Whether a user allowed the upgrade to `wanted` without a snapshot. */
  readonly isSnapshotWaived: boolean;
  /** Why a member does not work with the new version, after enough time. */
  readonly trouble?: string | undefined;
  /** Whether the data has the format of the new version. */
  readonly isFinal: boolean;
  readonly hasQuorum: boolean;
  /** For the name of a new backup. */
  readonly newBackup: string;
}

export interface UpgradeDecision {
  /** Tag to render. */
  readonly tag: string;
  /** Record to store before the tag is rendered. `none`: it is removed. Absent: it stays. */
  readonly record?: UpgradeRecord | 'none' | undefined;
  /** Version to store as failed. */
  readonly failed?: string | undefined;
  readonly fault?: Fault | undefined;
  /** Name of the ControlPlaneBackup to restore in place. */
  readonly restores?: string | undefined;
}

export function nextUpgrade(inputs: UpgradeInputs): UpgradeDecision {
  const { current, wanted, record } = inputs;
  if (record?.phase === 'Rolling') return roll(inputs, record);
  const step = versionStep(current, wanted);
  const removed = record ? { record: 'none' as const } : {};
  if (step.type === 'none') return { tag: current, ...removed };
  if (step.type === 'refused') return { tag: current, ...removed, fault: step };
  if (step.type === 'patch') return { tag: step.tag, ...removed };
  if (inputs.failed === step.tag) return { tag: current, ...removed, fault: failedBefore(current, step.tag) };
  if (!inputs.isCalm) return { tag: current };
  if (inputs.isSnapshotWaived) {
    return { tag: step.tag, record: { from: current, to: step.tag, phase: 'Rolling', backup: '' } };
  }
  if (record?.to !== step.tag || record.from !== current) {
    return { tag: current, record: { from: current, to: step.tag, phase: 'Snapshot', backup: inputs.newBackup } };
  }
  if (inputs.snapshot === 'complete') return { tag: step.tag, record: { ...record, phase: 'Rolling' } };
  return { tag: current, fault: waiting(inputs.snapshot, record) };
}

function roll(inputs: UpgradeInputs, { from, to, backup }: UpgradeRecord): UpgradeDecision {
  const { current, isCalm, trouble, isFinal, hasQuorum } = inputs;
  // The record was stored, and the StatefulSet has not changed yet.
  if (current !== to) return { tag: to };
  if (isCalm) return { tag: to, record: 'none' };
  if (trouble === undefined || (isFinal && hasQuorum)) return { tag: to };
  if (!isFinal) return { tag: from, record: 'none', failed: to };
  if (backup !== '') return { tag: from, record: 'none', failed: to, restores: backup };
  const message = `etcd was upgraded from ${from} to ${to} without a snapshot and does not work: ${trouble}`;
  return { tag: to, fault: { reason: 'EtcdUpgradeFailed', message } };
}

const failedBefore = (current: string, to: string): Fault => ({
  reason: 'EtcdUpgradeFailed',
  message: `etcd ${to} did not work, and etcd ${current} runs again: set another spec.etcd.version, or remove the annotation hosted.hangar.dev/etcd-upgrade-failed to try again`,
});

function waiting(snapshot: SnapshotState, { to, backup }: UpgradeRecord): Fault {
  const reason = 'EtcdUpgradeWaiting';
  if (snapshot === 'pending') {
    return { reason, message: `the upgrade to etcd ${to} waits for ControlPlaneBackup ${JSON.stringify(backup)}` };
  }
  const waiver = `set the annotation hosted.hangar.dev/etcd-upgrade-without-snapshot to ${to} to upgrade without one`;
  const cause = typeof snapshot === 'object' ? snapshot.message : 'this cluster does not serve ControlPlaneBackups';
  return { reason, message: `the upgrade to etcd ${to} needs a snapshot first: ${cause}; ${waiver}` };
}
