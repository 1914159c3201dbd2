/**
 * Members of the etcd of a HostedControlPlane on the process runtime, with the real etcd and kube-apiserver, while a client writes: a member
 * loses its data, a volume is deleted, the number of members changes, and the quorum is lost and recovered.
 */

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { find } from '@hangar/client';
import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { annotations, HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { until } from '../process-runtime/testing/until.ts';
import { key, namespace, ProcessCluster } from './testing/process-cluster.ts';
import { SteadyClient } from './testing/steady-client.ts';

const memberIds = ({ status }: HostedControlPlane) => new Map(status?.etcdMembers?.map(({ name, id }) => [name, id]));
const areHealthy = ({ status }: HostedControlPlane, count: number): boolean =>
  status?.etcdMembers?.length === count &&
  status.etcdMembers.every(({ healthy, role }) => healthy && (role === 'Leader' || role === 'Follower'));
const etcdReady = ({ status }: HostedControlPlane) => findCondition(status?.conditions, 'EtcdClusterReady');

describe('members of the etcd of a HostedControlPlane', () => {
  let cluster: ProcessCluster;
  let steady: SteadyClient;

  before(async () => {
    cluster = await ProcessCluster.start({ etcdTimes: { lossTimes: { certainMs: 1_000, absentMs: 5_000 } } });
    await cluster.client.create(HostedControlPlane, {
      metadata: { ...key },
      spec: { version: 'v1.36.4', replicas: 1, etcd: { replicas: 1 } },
    });
    await settled(1);
    steady = await SteadyClient.start(await cluster.secret('demo-kubeconfig', 'value'));
  });
  after(async () => {
    await steady?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test('one member becomes three, one at a time, while a client writes', async () => {
    await steady.during(async () => {
      await resize(3);
      await settled(3);
    });
    const map = await cluster.client.get(ConfigMap, { namespace, name: 'demo-etcd-members' });
    assert.deepEqual([map.data!['phase'], map.data!['replicas']], ['closed', '3']);
  });

  test('a member that loses its data gets a new identity, and no acknowledged write is lost', async () => {
    const before = memberIds(await cluster.client.get(HostedControlPlane, key));
    await steady.during(async () => {
      await wipe(1);
      await replaced(1, before);
    });
  });

  test('a member whose claim and pod are deleted joins with a new volume', async () => {
    const before = memberIds(await cluster.client.get(HostedControlPlane, key));
    await steady.during(async () => {
      await cluster.client.delete(PersistentVolumeClaim, { namespace, name: 'data-demo-etcd-2' });
      await cluster.client.delete(Pod, { namespace, name: 'demo-etcd-2' });
      await replaced(2, before);
    });
  });

  test('the replacement continues after a restart of the operator', async () => {
    const before = memberIds(await cluster.client.get(HostedControlPlane, key));
    await steady.during(async () => {
      await wipe(0);
      for (const phase of ['joining', 'closed']) {
        await until(`the start settings are ${phase}`, async () => {
          const { data } = await cluster.client.get(ConfigMap, { namespace, name: 'demo-etcd-members' });
          return data!['phase'] === phase;
        });
        await cluster.restartOperator();
      }
      await replaced(0, before);
    });
  });

  test('three members become one', async () => {
    await steady.during(async () => {
      await resize(1);
      await settled(1);
    });
    const { spec } = await cluster.client.get(StatefulSet, { namespace, name: 'demo-etcd' });
    assert.equal(spec!.replicas, 1);
    await until('the volumes of removed members are deleted', async () => {
      const claims = ['data-demo-etcd-1', 'data-demo-etcd-2'].map((name) =>
        find(cluster.client, PersistentVolumeClaim, { namespace, name }),
      );
      return (await Promise.all(claims)).every((claim) => claim === undefined);
    });
    await steady.finish();
  });

  test('a lost quorum is reported with the surviving member, and recovered from it on request', async () => {
    await resize(3);
    await settled(3);
    await wipe(0);
    await wipe(2);
    const lost = await cluster.until('the loss is reported', (one) => {
      const { reason, message = '' } = etcdReady(one) ?? {};
      return reason === 'QuorumLost' && message.includes('answers with revision');
    });
    const { message } = etcdReady(lost)!;
    assert.match(message, /"demo-etcd-1" answers with revision \d+/);
    assert.match(message, /run "hangar etcd recover demo -n team"/);
    const body = { metadata: { annotations: { [annotations.recoverEtcd]: 'demo-etcd-1' } } };
    await cluster.client.patch(HostedControlPlane, key, { type: 'merge', body });
    const recovered = await settled(3);
    assert.equal(recovered.metadata.annotations?.[annotations.recoverEtcd], undefined);
    assert.match(await cluster.kubectl('get', 'configmaps', '--namespace=steady', '--output=name'), /steady-0\n/);
  });

  async function resize(replicas: number): Promise<void> {
    await cluster.client.patch(HostedControlPlane, key, { type: 'merge', body: { spec: { etcd: { replicas } } } });
  }

  /** All members are voters and healthy, and the control plane is Ready. */
  async function settled(count: number): Promise<HostedControlPlane> {
    await cluster.until(`${count} members are healthy`, (one) => areHealthy(one, count));
    await cluster.ready();
    return cluster.until(`${count} members are healthy`, (one) => areHealthy(one, count));
  }

  async function replaced(ordinal: number, before: ReadonlyMap<string, string | undefined>): Promise<void> {
    const name = `demo-etcd-${ordinal}`;
    await cluster.until(`member ${name} is replaced`, (one) => {
      const id = memberIds(one).get(name);
      return areHealthy(one, 3) && id !== undefined && id !== before.get(name);
    });
    await cluster.ready();
  }

  /** Deletes the data of a member, and kills its process. */
  async function wipe(ordinal: number): Promise<void> {
    const { spec } = await cluster.client.get(PersistentVolumeClaim, { namespace, name: `data-demo-etcd-${ordinal}` });
    const volume = await cluster.client.get(PersistentVolume, { name: spec!.volumeName! });
    const pod = await cluster.client.get(Pod, { namespace, name: `demo-etcd-${ordinal}` });
    await rm(join(volume.spec!.hostPath!.path, 'member'), { recursive: true, force: true });
    await cluster.kill(pod);
  }
});
