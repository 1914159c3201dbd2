/** The version of etcd. Decisions are in `etcd/upgrade.ts`; the progress of an upgrade is in annotations of the HostedControlPlane. */

import { keyOf } from '@hangar/client';
import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Pod } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { annotations, clusterNameLabel, HostedControlPlane } from '../../api/index.ts';
import { imageTag, upgradeTrouble } from '../../etcd/upgrade-trouble.ts';
import { nextUpgrade } from '../../etcd/upgrade.ts';
import type { UpgradeDecision, UpgradeRecord } from '../../etcd/upgrade.ts';
import { parseEtcdVersion } from '../../etcd/version-step.ts';
import { componentLabel, wantedEtcdTag, workloadName } from '../../render/index.ts';
import { findObject } from '../apply.ts';
import type { Pass, Verdict } from '../pass.ts';
import { memberReport } from '../rollout.ts';
import { restoreBackup, upgradeBackup } from '../upgrade-backup.ts';

export interface EtcdVersionStep {
  /** Tag to render. */
  readonly tag: string;
  /** Whether an upgrade is in progress: nothing else is disrupted. */
  readonly isUpgrading: boolean;
  /** Why it is not the one of the spec. */
  readonly verdict?: Verdict | undefined;
}

/** Alarms of etcd. An upgrade waits until they are handled. */
const alarmReasons = new Set(['NoSpace', 'EtcdCorrupt']);
/** Nothing reports that a backup is complete or that a pod does not become ready. */
const requeueAfterMs = 10_000;

/** Stores the progress before the caller renders the tag. */
export async function etcdVersion(pass: Pass): Promise<EtcdVersionStep> {
  const { plane, hostedControlPlane: object, world } = pass;
  const wanted = wantedEtcdTag(plane);
  const key = { namespace: plane.namespace, name: workloadName(plane, 'etcd') };
  const set = await findObject(pass, StatefulSet, key);
  if (!set) return { tag: wanted, isUpgrading: false };
  const current = imageTag(set.spec?.template.spec?.containers[0]?.image);
  const noted = object.metadata.annotations ?? {};
  const record = readRecord(noted[annotations.etcdUpgrade]);
  if (current === wanted && !record) return { tag: current, isUpgrading: false };
  const { isComplete, hasQuorum } = memberReport(set);
  const alarm = findCondition(object.status?.conditions, 'EtcdClusterReady');
  const isRolling = record?.phase === 'Rolling' && !isComplete;
  const decision = nextUpgrade({
    current,
    wanted,
    record,
    failed: noted[annotations.etcdUpgradeFailed],
    isCalm: isComplete && !alarmReasons.has(alarm?.reason ?? ''),
    snapshot: record?.phase === 'Snapshot' ? await upgradeBackup(pass, record.backup) : 'pending',
    isSnapshotWaived: parseEtcdVersion(noted[annotations.etcdUpgradeWithoutSnapshot] ?? '')?.tag === wanted,
    trouble: isRolling ? await troubleOf(pass, record.to) : undefined,
    isFinal: record !== undefined && isFinal(pass, record.to),
    hasQuorum,
    newBackup: `${object.metadata.name}-etcd-${world.clock.now()}`,
  });
  await store(pass, decision);
  const inProgress = decision.record === undefined ? record : decision.record;
  const isUpgrading = inProgress !== undefined && inProgress !== 'none';
  if (isUpgrading) pass.wakeUps.push(world.clock.now() + requeueAfterMs);
  const { tag, fault } = decision;
  return { tag, isUpgrading, verdict: fault && { ...fault, isPartial: true } };
}

async function store(pass: Pass, { record, failed, restores }: UpgradeDecision): Promise<void> {
  if (restores !== undefined) await restoreBackup(pass, restores);
  const changes = {
    ...(record === undefined ? {} : { [annotations.etcdUpgrade]: record === 'none' ? null : JSON.stringify(record) }),
    ...(failed === undefined ? {} : { [annotations.etcdUpgradeFailed]: failed }),
  };
  if (Object.keys(changes).length === 0) return;
  const { client, world, signal, hostedControlPlane: object } = pass;
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, annotations: changes } };
  pass.hostedControlPlane = await world.writes.make('etcd-upgrade', () =>
    client.patch(HostedControlPlane, keyOf(object), { type: 'merge', body }, { signal }),
  );
}

/** A record that a user changed is ignored: the upgrade begins again. */
function readRecord(text: string | undefined): UpgradeRecord | undefined {
  if (text === undefined) return undefined;
  try {
    const { from, to, phase, backup } = JSON.parse(text) as Partial<Record<keyof UpgradeRecord, unknown>>;
    const isValid =
      [from, to, backup].every((one) => typeof one === 'string') && (phase === 'Snapshot' || phase === 'Rolling');
    return isValid ? ({ from, to, phase, backup } as UpgradeRecord) : undefined;
  } catch {
    return undefined;
  }
}

async function troubleOf({ plane, apiReader, world, signal }: Pass, tag: string): Promise<string | undefined> {
  const labelSelector = { [clusterNameLabel]: plane.name, [componentLabel]: 'etcd' };
  const { items } = await apiReader.list(Pod, { namespace: plane.namespace, labelSelector, signal });
  return upgradeTrouble(items, tag, world.clock.now());
}

/** Whether a member that answered last has data in the format of the new version. */
function isFinal({ hostedControlPlane, world }: Pass, to: string): boolean {
  const { namespace = '', name = '' } = hostedControlPlane.metadata;
  const minor = parseEtcdVersion(to)?.minor ?? Infinity;
  const { members = [] } = world.etcdCare.healthOf({ namespace, name }) ?? {};
  return members.some(({ dataVersion }) => (parseEtcdVersion(dataVersion ?? '')?.minor ?? -1) >= minor);
}
