/** Two nodes on the real control plane, the reference for control planes of Hangar: the nodes of this machine work. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startRealNodePlane } from './control-planes/real.ts';
import { imageName } from './images/images.ts';
import { Nodes } from './machine/node.ts';
import { Kubectl } from './testing/kubectl.ts';
import { printLogsOfFailures, withLogs } from './testing/report.ts';

describe('two nodes on the real control plane', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let kubectl: Kubectl;
  const logs = async (): Promise<string> => (await nodes?.logs()) ?? '';

  before(() =>
    withLogs(logs, async () => {
      nodes = opened.use(await Nodes.create());
      const plane = opened.use(await startRealNodePlane(nodes.network.hostAddress));
      kubectl = await Kubectl.of(plane.kubeconfig);
      for (const name of ['node-a', 'node-b']) await nodes.startMember(name, plane);
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  test('both become ready', async () => {
    await kubectl.wait('create', 'node/node-a', 'node/node-b');
    await kubectl.wait('condition=Ready', 'node/node-a', 'node/node-b');
  });

  test('a pod runs on each, and its log can be read', async () => {
    await kubectl.wait('create', 'serviceaccount/default');
    for (const name of ['node-a', 'node-b']) {
      const spec = {
        nodeName: name,
        containers: [{ name: 'main', image: imageName('busybox'), command: ['sh', '-c', 'hostname; sleep 1000'] }],
      };
      await kubectl.apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `on-${name}`, namespace: 'default' },
        spec,
      });
    }
    for (const name of ['node-a', 'node-b']) {
      await kubectl.wait('condition=Ready', `pod/on-${name}`);
      assert.equal(await kubectl.run('logs', `on-${name}`), `on-${name}\n`);
    }
  });
});
