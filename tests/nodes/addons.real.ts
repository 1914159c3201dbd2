/**
 * The addon kube-proxy in a pod instead of a program of the node, and `kubectl top` with the real metrics-server in a pod, which the control
 * plane reaches through its APIService.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '@hangar/cli/machine';
import { ControlPlaneClass } from '@hangar/controlplane-operator';
import { HangarForNodes } from './control-planes/hangar.ts';
import { defaultImages } from './images/catalogue.ts';
import { imageName } from './images/images.ts';
import { Nodes } from './machine/node.ts';
import { Kubectl } from './testing/kubectl.ts';
import { metricsServer } from './testing/metrics-server.ts';
import { pod, webDeployment, webService } from './testing/objects.ts';
import { printLogsOfFailures, withLogs } from './testing/report.ts';

describe('a control plane of Hangar with addons', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let hangar: HangarForNodes;
  let kubectl: Kubectl;
  const logs = async (): Promise<string> => `${hangar?.logs}\n${await nodes?.logs()}`;

  before(() =>
    withLogs(logs, async () => {
      nodes = opened.use(await Nodes.create());
      const starting = nodes.start('node-a', { images: [...defaultImages, 'kube-proxy', 'metrics-server'] });
      starting.catch(() => {});
      hangar = opened.use(await HangarForNodes.start(nodes.network));
      const spec = {
        addons: ['coredns', 'kube-proxy'],
        images: { kubeProxy: imageName('kube-proxy') },
        // The limit of tracked connections is a setting of the whole machine.
        kubeProxy: { mode: 'nftables', conntrack: { maxPerCore: 0, min: 0 } },
      };
      await hangar.up.client.patch(ControlPlaneClass, { name: 'nodes' }, { type: 'merge', body: { spec } });
      const plane = await hangar.createPlane('red');
      kubectl = await Kubectl.of(plane.kubeconfig);
      const node = await starting;
      // Without the program kube-proxy of the node.
      await node.startKubelet(plane.join);
      await kubectl.wait('create', 'node/node-a', 'serviceaccount/default');
      await kubectl.apply(...metricsServer(), pod('busy', { command: ['sh', '-c', 'while true; do :; done'] }));
      await kubectl.wait('condition=Ready', 'pod/busy');
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  const rolledOut = (workload: string): Promise<string> =>
    kubectl.run('rollout', 'status', workload, '--namespace=kube-system', '--timeout=110s');

  test('the addon kube-proxy runs, and pods reach a service at its cluster IP', async () => {
    await rolledOut('daemonset/kube-proxy');
    await kubectl.apply(webDeployment('web', 1), webService('web'));
    await kubectl.run('rollout', 'status', 'deployment/web', '--timeout=110s');
    const address = await kubectl.value('{.spec.clusterIP}', 'service/web');
    const script = `until timeout 5 wget -q -O - http://${address}/hostname; do sleep 0.2; done`;
    assert.match(await kubectl.run('exec', 'busy', '--', 'sh', '-c', script), /^web-/);
  });

  test('the APIService of metrics-server becomes available', async () => {
    await rolledOut('deployment/metrics-server');
    await kubectl.wait('condition=Available', 'apiservice/v1beta1.metrics.k8s.io');
  });

  // metrics-server has figures of a pod after two requests to its kubelet.
  const top = (...args: string[]): Promise<RegExpExecArray> =>
    until(`kubectl top ${args.join(' ')} prints figures`, {}, async () => {
      const output = await kubectl.run('top', ...args, '--no-headers');
      return /^(\S+) +(\d+)m +(?:\d+% +)?(\d+)Mi/m.exec(output) ?? undefined;
    });

  test('kubectl top node prints the usage of the node', async () => {
    const [, name, cpu, memory] = await top('node', 'node-a');
    assert.equal(name, 'node-a');
    assert.ok(Number(cpu) > 0 && Number(memory) > 0);
  });

  test('kubectl top pod prints the usage of a pod that uses a processor', async () => {
    const [, name, cpu] = await top('pod', 'busy');
    assert.equal(name, 'busy');
    assert.ok(Number(cpu) > 0);
  });
});
