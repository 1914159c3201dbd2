/** Phase EtcdCluster: the StatefulSet and its Service. Later phases need a quorum. */

import type { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { findCondition } from '@hangar/runtime';
import { alarmFault, inMebibytes } from '../../etcd/alarms.ts';
import { isFault } from '../../fault.ts';
import { digestOf } from '../../pki/secrets.ts';
import type { Plane } from '../../render/index.ts';
import { applyAll, applyObject } from '../apply.ts';
import { wasReady } from '../conditions.ts';
import type { Pass, Verdict } from '../pass.ts';
import { memberReport } from '../rollout.ts';
import { troubleOf } from './pods.ts';
import { growVolumes, withTemplateSize } from './etcd-volumes.ts';

export async function etcdCluster(pass: Pass): Promise<Verdict | undefined> {
  const { plane, rendering, authorities, hostedControlPlane } = pass;
  const render = (of: Plane) => {
    const all = rendering.etcd(of, digestOf(authorities!.etcd.trusted));
    const set = all.find(({ kind }) => kind.kind === 'StatefulSet')!;
    return { set, others: all.filter((one) => one !== set) };
  };
  const { set: planned, others } = render(plane);
  const fault = await applyAll(pass, others);
  if (fault) return fault;
  const { templateSize, capacity, growth } = await growVolumes(pass, planned.object as StatefulSet);
  pass.etcdVolumeSize = capacity;
  // The quota follows the volumes, not the request.
  const { set } = render({ ...plane, etcdCapacity: capacity });
  const applied = await applyObject<StatefulSet>(pass, withTemplateSize(set, templateSize));
  if (isFault(applied)) return applied;
  const { ready, desired, hasQuorum, isComplete } = memberReport(applied);
  pass.etcdMembers = { ready, desired };
  const alarm = hasQuorum ? alarmOf(pass, desired) : undefined;
  pass.isEtcdBusy = !isComplete || alarm !== undefined;
  if (isComplete) return alarm ?? growth;
  const trouble = await troubleOf(pass, 'etcd');
  const counts = `${ready} of ${desired} etcd members are ready`;
  const message = trouble ? `${counts}: ${trouble.message}` : counts;
  const requeueAfterMs = 10_000;
  const { conditions, initialized } = hostedControlPlane.status ?? {};
  const isFirstStart = initialized !== true && !wasReady(conditions, 'EtcdClusterReady');
  const reason = trouble?.reason ?? (hasQuorum || isFirstStart ? 'MembersNotReady' : 'QuorumLost');
  // An API server that starts before etcd waits in the back-off of its connections, up to several seconds longer than etcd needs.
  return { reason, message, isPartial: hasQuorum, requeueAfterMs };
}

const alarmReasons = new Set(['NoSpace', 'EtcdCorrupt']);

/** Sets `pass.etcdVolumeUsage`. The control plane still serves reads, so an alarm is partial. */
function alarmOf(pass: Pass, replicas: number): Verdict | undefined {
  const { plane, world, hostedControlPlane } = pass;
  const { namespace = '', name = '', uid = '' } = hostedControlPlane.metadata;
  const target = { namespace: plane.namespace, name: plane.name, replicas };
  const health = world.etcdMonitor.track({ namespace, name, uid }, target);
  if (health === 'pending') {
    // Of an earlier operator. The first probe confirms or ends it.
    const known = findCondition(hostedControlPlane.status?.conditions, 'EtcdClusterReady');
    return known && alarmReasons.has(known.reason)
      ? { reason: known.reason, message: known.message, isPartial: true }
      : undefined;
  }
  if (!health) return undefined;
  pass.etcdVolumeUsage = inMebibytes(health.dbSizeBytes);
  const fault = alarmFault(health);
  return fault && { ...fault, isPartial: true };
}
