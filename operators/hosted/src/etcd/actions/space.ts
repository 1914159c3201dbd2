/** Actions about the space of an etcd cluster. */

import type { EtcdMaintenance, Revision } from '@hangar/store/etcd-maintenance';
import { annotations, HostedControlPlane } from '../../api/index.ts';
import { sizeOf } from '../../render/index.ts';
import { unlessUnavailable } from '../connection.ts';
import { recoverSpace } from '../space/recover-space.ts';
import type { SpaceClient } from '../space/recover-space.ts';
import type { ActionContext } from './index.ts';

export async function defragment(pod: string, { members }: ActionContext): Promise<boolean> {
  await members.get(pod)!.defragment();
  return true;
}

/** Returns false if the alarm stays. */
export async function freeSpace(context: ActionContext): Promise<boolean> {
  const { observation, clock, signal } = context;
  const options = { clock, replicas: observation.desired, signal };
  return (await recoverSpace(spaceClient(context), options)).isRecovered;
}

/** The reconciler grows the volumes, then the quota. */
export async function growVolumes(sizeBytes: number, { client, target, signal }: ActionContext): Promise<boolean> {
  const { namespace, hostedControlPlane: name } = target;
  const body = { metadata: { annotations: { [annotations.etcdVolumeSize]: sizeOf(sizeBytes) } } };
  await client.patch(HostedControlPlane, { namespace, name }, { type: 'merge', body }, { signal });
  return true;
}

function spaceClient({ members, target }: ActionContext): SpaceClient {
  const any = (): EtcdMaintenance => [...members.values()][0]!;
  return {
    async observe() {
      const statuses = await Promise.all(
        Array.from(members, async ([name, etcd]) => ({ name, status: await unlessUnavailable(() => etcd.status()) })),
      );
      const answered = statuses.flatMap(({ name, status }) => (status ? [{ name, ...status }] : []));
      return {
        revision: Math.max(0, ...answered.map(({ revision }) => revision)),
        members: answered.map(({ name, member, leader, isLearner, dbSizeBytes, dbSizeInUseBytes, quotaBytes }) => ({
          name,
          isHealthy: leader !== undefined && !isLearner,
          isLeader: leader === member,
          dbSizeBytes,
          dbSizeInUseBytes,
          quotaBytes: quotaBytes ?? target.space.quotaBytes,
        })),
      };
    },
    compact: (revision) => any().compact(revision as Revision),
    defragment: (member) => members.get(member)!.defragment(),
    async disarm() {
      for (const alarm of await any().alarms()) if (alarm.type === 'NOSPACE') await any().disarm(alarm);
    },
  };
}
