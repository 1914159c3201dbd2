/**
 * A HostedControlPlane with three replicas on the process runtime, while a client reads and writes every 100 ms: components are killed, the
 * operator restarts, the API servers are scaled, and the control plane is upgraded. `testing/steady-client.ts` says what the client does.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Pod } from '@hangar/client/kinds/core-v1';
import { isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { tool } from '../../tools/tool.ts';
import { until } from '../process-runtime/testing/until.ts';
import { PodHistory } from './testing/pod-history.ts';
import { key, namespace, ProcessCluster } from './testing/process-cluster.ts';
import { SteadyClient } from './testing/steady-client.ts';

const [from, to] = ['v1.35.8', 'v1.36.4'] as const;
const componentLabel = 'app.kubernetes.io/component';
const upgraded = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

describe('a HostedControlPlane stays available', () => {
  const opened = new AsyncDisposableStack();
  let cluster: ProcessCluster;
  let steady: SteadyClient;
  let history: PodHistory;

  before(async () => {
    const images = await Promise.all(
      upgraded.map(async (name) => [`registry.k8s.io/${name}:${from}`, await tool(`${name}-1.35`)] as const),
    );
    cluster = opened.use(await ProcessCluster.start({ images: Object.fromEntries(images) }));
    history = opened.use(await PodHistory.start(cluster.client, namespace));
    await cluster.client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: from, replicas: 3 } });
    const { status } = await cluster.ready();
    assert.deepEqual([status!.version, status!.readyReplicas], [from, 3]);
    steady = opened.use(await SteadyClient.start(await cluster.secret('demo-kubeconfig', 'value')));
  });
  after(() => opened.disposeAsync());

  const podsOf = async (component: string): Promise<Pod[]> =>
    (await cluster.client.list(Pod, { namespace, labelSelector: { [componentLabel]: component } })).items;
  const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;

  for (const component of ['etcd', ...upgraded]) {
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
      assert.ok(operations.length > 0);
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
    await steady.during(async () => {
      await cluster.client.patch(HostedControlPlane, key, { type: 'merge', body: { spec: { version: to } } });
      const { status } = await cluster.until(`version ${to}`, (one) => one.status?.version === to);
      assert.equal(isConditionTrue(status!.conditions, 'RollingOut'), false);
      for (const component of upgraded) {
        const current = (await podsOf(component)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        for (const pod of current) assert.match(pod.spec!.containers[0]!.image!, new RegExp(`:${to}$`));
      }
      await cluster.ready();
    });
    // Controllers start with a version when all API servers have it, and at most one member of etcd restarts at a time.
    assert.deepEqual(history.controllersAhead(), []);
    assert.equal(history.disruptedMax('etcd'), 1);
  });

  test('no acknowledged write is lost', async () => {
    console.log(await steady.finish());
  });
});
