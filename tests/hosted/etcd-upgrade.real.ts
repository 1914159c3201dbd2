/**
 * An upgrade of etcd from 3.5 to 3.6 with real programs and a client that writes all the time. A version that does not work is taken back by
 * the operator; the next one is complete. No acknowledged write is lost.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findCondition } from '@hangar/runtime';
import { annotations, HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { tool } from '../../tools/tool.ts';
import { key, ProcessCluster } from './testing/process-cluster.ts';
import { SteadyClient } from './testing/steady-client.ts';

const [older, broken, newer] = ['3.5.26', '3.6.1', '3.6.8'];
const image = (version: string): string => `registry.k8s.io/etcd:${version}-0`;
const etcdReady = ({ status }: HostedControlPlane) => findCondition(status?.conditions, 'EtcdClusterReady');

describe('an upgrade of etcd', () => {
  const opened = new AsyncDisposableStack();
  let cluster: ProcessCluster;
  let steady: SteadyClient;

  before(async () => {
    const images = { [image(older)]: await tool('etcd-3.5', { log: console.log }), [image(broken)]: '/bin/false' };
    cluster = opened.use(await ProcessCluster.start({ images }));
    const spec = { version: 'v1.36.4', replicas: 1, etcd: { version: older } };
    await cluster.client.create(HostedControlPlane, { metadata: { ...key }, spec });
    await cluster.ready();
    steady = opened.use(await SteadyClient.start(await cluster.secret('demo-kubeconfig', 'value')));
  });
  after(() => opened.disposeAsync());

  /** No controllers of backups run here. */
  const upgrade = (version: string) =>
    cluster.client.patch(HostedControlPlane, key, {
      type: 'merge',
      body: {
        metadata: { annotations: { [annotations.etcdUpgradeWithoutSnapshot]: version } },
        spec: { etcd: { version } },
      },
    });
  const versions = async (): Promise<string[]> =>
    (await cluster.etcdStatuses()).map(({ version }) => version.replace(/\.\d+$/, ''));

  test('a version that does not start is taken back, and the control plane works meanwhile', async () => {
    assert.deepEqual(await versions(), ['3.5', '3.5', '3.5']);
    const fromMs = performance.now();
    await steady.during(async () => {
      await upgrade(broken);
      await cluster.until('the previous version returns', (one) => etcdReady(one)?.reason === 'EtcdUpgradeFailed');
    });
    console.log(`the previous version returned after ${((performance.now() - fromMs) / 1_000).toFixed(1)} s`);
    assert.deepEqual(await versions(), ['3.5', '3.5', '3.5']);
  });

  test('another version is rolled out to all members', async () => {
    const fromMs = performance.now();
    await steady.during(async () => {
      await upgrade(newer);
      await cluster.until(
        'all members have the version',
        (one) =>
          etcdReady(one)?.status === 'True' &&
          one.metadata.annotations?.[annotations.etcdUpgrade] === undefined &&
          one.status?.observedGeneration === one.metadata.generation,
      );
    });
    console.log(`upgraded after ${((performance.now() - fromMs) / 1_000).toFixed(1)} s`);
    assert.deepEqual(await versions(), ['3.6', '3.6', '3.6']);
    console.log(await steady.finish());
  });
});
