/** Phase EtcdCluster: the StatefulSet and its Service. Later phases need a quorum. */

import type { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { findCondition } from '@hangar/runtime';
import { annotations, isFenced } from '../../api/index.ts';
import { alarmFault, inMebibytes } from '../../etcd/alarms.ts';
import type { EtcdHealth } from '../../etcd/health.ts';
import { quorumLossMessage } from '../../etcd/quorum-loss.ts';
import type { Membership } from '../../etcd/membership.ts';
import { isFault } from '../../fault.ts';
import { digestOf } from '../../pki/secrets.ts';
import type { Plane } from '../../render/index.ts';
import { applyAll, applyObject } from '../apply.ts';
import { wasReady } from '../conditions.ts';
import type { Pass, Verdict } from '../pass.ts';
import { memberReport } from '../rollout.ts';
import type { MemberReport } from '../rollout.ts';
import { closeBootstrap, membershipOf, withPods } from './etcd-membership.ts';
import { etcdVersion } from './etcd-version.ts';
import { growVolumes, spaceSettings, withTemplateSize } from './etcd-volumes.ts';
import { troubleOf } from './pods.ts';

export async function etcdCluster(pass: Pass): Promise<Verdict | undefined> {
  const { plane, rendering, authorities } = pass;
  const render = (of: Plane) => {
    const all = rendering.etcd(of, digestOf(authorities!.etcd.trusted));
    const set = all.find(({ kind }) => kind.kind === 'StatefulSet')!;
    return { set, others: all.filter((one) => one !== set) };
  };
  const { set: planned, others } = render(plane);
  const fault = await applyAll(pass, others);
  if (fault) return fault;
  const membership = await membershipOf(pass);
  if (isFault(membership)) return membership;
  pass.etcdRecoveries = membership.recoveries;
  const version = await etcdVersion(pass);
  const { templateSize, capacity, growth } = await growVolumes(
    pass,
    withPods(planned, membership).object as StatefulSet,
  );
  pass.etcdVolumeSize = capacity;
  // The quota follows the volumes, not the request.
  const { set } = render({ ...plane, etcdCapacity: capacity, etcdTag: version.tag });
  const applied = await applyObject<StatefulSet>(pass, withPods(withTemplateSize(set, templateSize), membership));
  if (isFault(applied)) return applied;
  const report = memberReport(applied);
  if (report.isComplete && membership.phase === 'bootstrap') await closeBootstrap(pass, membership);
  pass.etcdMembers = { ready: report.ready, desired: report.desired };
  const health = healthOf(pass, report);
  const verdict =
    (report.isComplete ? undefined : await membersFault(pass, report, health)) ??
    healthFault(pass, health) ??
    changeFault(pass, membership);
  pass.isEtcdBusy = verdict !== undefined || version.isUpgrading;
  return verdict ?? version.verdict ?? growth;
}

/** Starts to take care of the members. Sets the fields of `pass` that are reported. */
function healthOf(pass: Pass, { isComplete }: MemberReport): EtcdHealth | 'pending' | undefined {
  const { plane, world, hostedControlPlane } = pass;
  const { namespace = '', name = '', uid = '', annotations: noted } = hostedControlPlane.metadata;
  const target = {
    namespace: plane.namespace,
    name: plane.name,
    hostedControlPlane: name,
    desired: plane.spec.etcd?.replicas ?? 3,
    recoverFrom: noted?.[annotations.recoverEtcd],
    space: spaceSettings({ ...plane, etcdCapacity: pass.etcdVolumeSize }),
    isFenced: isFenced(hostedControlPlane),
  };
  const health = world.etcdCare.track({ namespace, name, uid }, target);
  const isSettled =
    typeof health === 'object' && health.change === undefined && health.members.length === target.desired;
  if (!isComplete || !isSettled) world.etcdCare.hint({ namespace, name });
  if (typeof health === 'object') {
    pass.etcdMemberHealth = health.members;
    if (health.space?.lastDefragTime) pass.etcdLastDefragTime = health.space.lastDefragTime;
    if (health.dbSizeBytes > 0) pass.etcdVolumeUsage = inMebibytes(health.dbSizeBytes);
  }
  return health;
}

async function membersFault(
  pass: Pass,
  { ready, desired, hasQuorum }: MemberReport,
  health: EtcdHealth | 'pending' | undefined,
): Promise<Verdict> {
  const { hostedControlPlane } = pass;
  const trouble = await troubleOf(pass, 'etcd');
  const change = typeof health === 'object' ? health.change : undefined;
  const counts = [`${ready} of ${desired} etcd members are ready`, change]
    .filter((one) => one !== undefined)
    .join('; ');
  const message = trouble ? `${counts}: ${trouble.message}` : counts;
  const { conditions, initialized } = hostedControlPlane.status ?? {};
  const isFirstStart = initialized !== true && !wasReady(conditions, 'EtcdClusterReady');
  const requeueAfterMs = 10_000;
  if (typeof health === 'object' && health.isQuorumLost && !isFirstStart && change === undefined) {
    const lost = quorumLossMessage(hostedControlPlane, health);
    return { reason: 'QuorumLost', message: `${counts}: ${lost}`, requeueAfterMs };
  }
  const reason = trouble?.reason ?? (hasQuorum || isFirstStart ? 'MembersNotReady' : 'QuorumLost');
  // An API server that starts before etcd waits in the back-off of its connections, up to several seconds longer than etcd needs.
  return { reason, message, isPartial: hasQuorum, requeueAfterMs };
}

/** The number of members changes, or a member joins. It is known before the first observation. */
function changeFault({ plane }: Pass, { phase, replicas, firstOrdinal, pod }: Membership): Verdict | undefined {
  const desired = plane.spec.etcd?.replicas ?? 3;
  const isSettled = phase === 'bootstrap' || (phase === 'closed' && replicas === desired && firstOrdinal === 0);
  if (isSettled) return undefined;
  const message =
    pod === undefined
      ? `${replicas} of ${desired} etcd members exist`
      : `etcd member ${JSON.stringify(pod)} is ${phase}`;
  return { reason: 'MembersChanging', message, isPartial: true, requeueAfterMs: 10_000 };
}

const alarmReasons = new Set(['NoSpace', 'EtcdCorrupt']);

/** The control plane still serves reads, so an alarm is partial. It works while members are added or removed, too. */
function healthFault({ hostedControlPlane }: Pass, health: EtcdHealth | 'pending' | undefined): Verdict | undefined {
  if (health === 'pending') {
    // Of an earlier operator. The first probe confirms or ends it.
    const known = findCondition(hostedControlPlane.status?.conditions, 'EtcdClusterReady');
    return known && alarmReasons.has(known.reason)
      ? { reason: known.reason, message: known.message, isPartial: true }
      : undefined;
  }
  if (!health) return undefined;
  const fault = alarmFault(health);
  if (fault) return { ...fault, isPartial: true };
  return health.change === undefined
    ? undefined
    : { reason: 'MembersChanging', message: health.change, isPartial: true, requeueAfterMs: 10_000 };
}
