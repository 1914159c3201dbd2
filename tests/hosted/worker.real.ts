/**
 * A worker of a hosted control plane: a HostedControlPlane on the process runtime, and a real node (kubelet and containerd in namespaces of
 * this machine) that joins it with kubeadm. The API server reaches the node only through konnectivity.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Node } from '@hangar/cli/machine';
import { findCondition } from '@hangar/runtime';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import type { ImageSpec } from '../../operators/hosted/src/api/index.ts';
import { tool } from '../../tools/tool.ts';
import { imageName } from '../nodes/images/images.ts';
import type { ImageName } from '../nodes/images/images.ts';
import { kubeadmJoin } from '../nodes/machine/kubeadm.ts';
import { Nodes } from '../nodes/machine/node.ts';
import { Kubectl } from '../nodes/testing/kubectl.ts';
import { pod, webDeployment, webService } from '../nodes/testing/objects.ts';
import { printLogsOfFailures, withLogs } from '../nodes/testing/report.ts';
import { Session } from '../nodes/testing/session.ts';
import { until } from '../process-runtime/testing/until.ts';
import { key, ProcessCluster } from './testing/process-cluster.ts';

const addons = ['kube-proxy', 'coredns', 'konnectivity-agent'] as const satisfies readonly ImageName[];

/** `hangar.test/coredns:1` as fields of the spec. */
function image(name: ImageName): ImageSpec {
  const [, registry, repository, tag] = /^([^/]+)\/(.+):([^:]+)$/.exec(imageName(name))!;
  return { registry: registry!, repository: repository!, tag: tag! };
}

/** The kubelet is not reachable from the address of the API server, as behind NAT. */
async function rejectDirectConnections(node: Node, from: string): Promise<void> {
  const nft = await tool('nft', { log: console.log });
  await node.run(nft, 'add table inet nat-double');
  await node.run(nft, 'add chain inet nat-double input { type filter hook input priority 0; }');
  await node.run(nft, `add rule inet nat-double input ip saddr ${from} tcp dport 10250 reject with tcp reset`);
}

describe('a worker of a HostedControlPlane on the process runtime', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let cluster: ProcessCluster;
  let node: Node;
  let kubectl: Kubectl;
  const logs = async (): Promise<string> => `${await nodes?.logs()}`;

  before(() =>
    withLogs(logs, async () => {
      nodes = opened.use(await Nodes.create());
      const starting = nodes.start('worker', { images: ['pause', 'busybox', 'agnhost', ...addons] });
      starting.catch(() => {});
      const loadBalancerAddresses = [nodes.network.hostAddress];
      const images = { 'proxy-server': await tool('konnectivity-server', { log: console.log }) };
      cluster = opened.use(await ProcessCluster.start({ loadBalancerAddresses, images }));
      await cluster.client.create(HostedControlPlane, {
        metadata: { ...key },
        spec: {
          version: 'v1.36.4',
          replicas: 1,
          service: { type: 'LoadBalancer' },
          kubeProxy: {
            image: image('kube-proxy'),
            // The limit of tracked connections is a setting of the whole machine.
            args: { 'proxy-mode': 'nftables', 'conntrack-max-per-core': '0', 'conntrack-min': '0' },
          },
          coredns: { replicas: 1, image: image('coredns') },
          konnectivityClient: { image: image('konnectivity-agent') },
        },
      });
      await cluster.ready();
      const kubeconfig = join(nodes.folder, 'demo.kubeconfig');
      await writeFile(kubeconfig, await cluster.secret('demo-kubeconfig', 'value'), { mode: 0o600 });
      kubectl = await Kubectl.of(kubeconfig);
      node = await starting;
      await rejectDirectConnections(node, nodes.network.hostAddress);
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  test('joins with kubeadm and becomes Ready', async () => {
    const { spec } = await cluster.client.get(HostedControlPlane, key);
    assert.deepEqual(spec.controlPlaneEndpoint, { host: nodes.network.hostAddress, port: 6443 });
    const create = [`--kubeconfig=${kubectl.kubeconfig}`, 'token', 'create', '--print-join-command'];
    const { stdout } = await promisify(execFile)(await tool('kubeadm', { log: console.log }), create);
    await kubeadmJoin(node, stdout);
    await kubectl.wait('create', 'node/worker');
    await kubectl.wait('condition=Ready', 'node/worker');
    assert.equal(await kubectl.value('{.status.nodeInfo.kubeletVersion}', 'node/worker'), 'v1.36.4');
  });

  test('runs pods, and the API server reads logs and runs commands through konnectivity', async () => {
    await kubectl.wait('create', 'serviceaccount/default');
    await kubectl.apply(
      pod('hello', { command: ['sh', '-c', 'echo hello; exec sleep 3600'] }),
      webDeployment('web', 1),
      webService('web'),
    );
    await kubectl.wait('condition=Ready', 'pod/hello');
    const readLogs = async (): Promise<string | false> => {
      await using printed = new Session(kubectl.start('logs', 'hello'));
      return (await printed.exited()) === 0 && printed.output;
    };
    assert.equal(await until('an agent is connected', readLogs, logs), 'hello\n');
    const direct = connect({ host: node.addresses.address, port: 10_250 });
    await assert.rejects(once(direct, 'connect'), { code: 'ECONNREFUSED' });
    assert.equal(await kubectl.run('exec', 'hello', '--', 'echo', 'inside'), 'inside\n');
  });

  test('pods reach a Service by its name: kube-proxy and CoreDNS work', async () => {
    const script = 'until timeout 5 wget -q -O - http://web.default.svc.cluster.local/hostname; do sleep 0.2; done';
    assert.match(await kubectl.run('exec', 'hello', '--', 'sh', '-c', script), /^web-/);
  });

  test('a webhook and an APIService without a server do not wedge the operator', async () => {
    const service = { namespace: 'default', name: 'gone' };
    await kubectl.apply(
      {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: 'v1.gone.example.com' },
        spec: { group: 'gone.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, service },
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'gone' },
        webhooks: [
          {
            name: 'gone.example.com',
            clientConfig: { service },
            rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments'] }],
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            failurePolicy: 'Fail',
          },
        ],
      },
    );
    const dryRun = ['create', 'deployment', 'probe', '--image=probe', '--dry-run=server'];
    await until('the API server calls the webhook', async () => {
      await using probe = new Session(kubectl.start(...dryRun));
      return (await probe.exited()) !== 0;
    });
    const body = { spec: { coredns: { replicas: 2 } } };
    await cluster.client.patch(HostedControlPlane, key, { type: 'merge', body });
    const { status } = await cluster.until('the webhook is reported', ({ status: now }) => {
      return findCondition(now?.conditions, 'WorkloadSetupReady')?.reason === 'WebhookRejected';
    });
    const { message } = findCondition(status!.conditions, 'WorkloadSetupReady')!;
    assert.match(message, /^webhook "gone\.example\.com" rejects Deployment "kube-system\/coredns"/);
    await kubectl.run('delete', 'validatingwebhookconfiguration', 'gone');
    await cluster.ready();
    assert.equal(await kubectl.value('{.spec.replicas}', '--namespace=kube-system', 'deployment/coredns'), '2');
  });
});
