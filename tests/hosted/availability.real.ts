/**
 * A HostedControlPlane with three replicas on the process runtime, while a client reads and writes every 100 ms: components are killed, the
 * operator restarts, the API servers are scaled, and the control plane is upgraded. `testing/steady-client.ts` says what the client does.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Pod } from '@hangar/client/kinds/core-v1';
import { isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { until } from '../process-runtime/testing/until.ts';
import { PodHistory } from './testing/pod-history.ts';
import { key, namespace, ProcessCluster } from './testing/process-cluster.ts';
import { SteadyClient } from './testing/steady-client.ts';
import { upgradeWithClient } from './testing/upgrade.ts';
import { olderPrograms, olderVersion, versionedComponents } from './testing/versions.ts';

const componentLabel = 'app.kubernetes.io/component';

describe('a HostedControlPlane stays available', () => {
  const opened = new AsyncDisposableStack();
  let cluster: ProcessCluster;
  let steady: SteadyClient;
  let history: PodHistory;

  before(async () => {
    cluster = opened.use(await ProcessCluster.start({ images: await olderPrograms() }));
    history = opened.use(await PodHistory.start(cluster.client, namespace));
    await cluster.client.create(HostedControlPlane, {
      metadata: { ...key },
      spec: { version: olderVersion, replicas: 3 },
    });
    const { status } = await cluster.ready();
    assert.deepEqual([status!.version, status!.readyReplicas], [olderVersion, 3]);
    steady = opened.use(await SteadyClient.start(await cluster.secret('demo-kubeconfig', 'value')));
  });
  after(() => opened.disposeAsync());

  const podsOf = async (component: string): Promise<Pod[]> =>
    (await cluster.client.list(Pod, { namespace, labelSelector: { [componentLabel]: component } })).items;
  const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;

  for (const component of ['etcd', ...versionedComponents]) {
    test(`while a process of ${component} is killed and restarts`, async () => {
      const [victim] = await podsOf(component);
      const { name } = victim!.metadata;
      const operations = await steady.during(async () => {
        await cluster.kill(victim!);
        await until(`${name} is ready again`, async () => {
          const now = await cluster.client.get(Pod, { namespace, name: name! });
          return restartsOf(now) > restartsOf(victim!) && isConditionTrue(now.status?.conditions, 'Ready');
        });
      });
      // If the member led, no operation completes during the election.
      assert.ok(component === 'etcd' || operations.length > 0);
    });
  }

  test('while the operator restarts, and without a change of a pod', async () => {
    await cluster.ready();
    const uids = async () => (await cluster.pods()).map(({ metadata }) => metadata.uid).sort();
    const old = await uids();
    await steady.during(async () => {
      await cluster.restartOperator();
      // The operator makes a change only after it has compared all objects.
      await cluster.client.patch(HostedControlPlane, key, { type: 'merge', body: { spec: { service: {} } } });
      await cluster.ready();
    });
    assert.deepEqual(await uids(), old);
  });

  test('while it scales to one API server and back', async () => {
    for (const replicas of [1, 3]) {
      await steady.during(async () => {
        const body = { spec: { replicas } };
        await cluster.client.subresource('scale').patch(HostedControlPlane, key, { type: 'merge', body });
        await cluster.ready();
        const { status } = await cluster.until(`${replicas} API servers`, (one) => one.status?.replicas === replicas);
        assert.equal(status!.readyReplicas, replicas);
      });
    }
    assert.equal((await podsOf('etcd')).length, 3);
  });

  test('while it is upgraded by one minor version', async () => {
    await upgradeWithClient({ client: cluster.client, key, steady, history });
  });

  test('no acknowledged write is lost', async () => {
    console.log(await steady.finish());
  });
});
