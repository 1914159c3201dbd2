/** The addon coredns of a class, on a real node of a control plane of Hangar, and clients in pods that use the service kubernetes. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ControlPlaneClass } from '@hangar/controlplane-operator';
import { HangarForNodes } from './control-planes/hangar.ts';
import { imageName } from './images/images.ts';
import { Nodes } from './machine/node.ts';
import { Kubectl } from './testing/kubectl.ts';
import { pod } from './testing/objects.ts';
import { printLogsOfFailures, withLogs } from './testing/report.ts';
import { Session } from './testing/session.ts';

describe('a node on a control plane with the addon coredns', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let hangar: HangarForNodes;
  let kubectl: Kubectl;
  const logs = async (): Promise<string> => `${hangar?.logs}\n${await nodes?.logs()}`;

  before(() =>
    withLogs(logs, async () => {
      nodes = opened.use(await Nodes.create());
      hangar = opened.use(await HangarForNodes.start(nodes.network));
      const spec = { addons: ['coredns'], images: { coredns: imageName('coredns') } };
      await hangar.up.client.patch(ControlPlaneClass, { name: 'nodes' }, { type: 'merge', body: { spec } });
      const plane = await hangar.createPlane('red');
      kubectl = await Kubectl.of(plane.kubeconfig);
      // CoreDNS requires a server for other names; it is never used.
      const resolvConf = join(nodes.folder, 'resolv.conf');
      await writeFile(resolvConf, 'nameserver 192.0.2.1\n');
      const configuration = { ...plane.join.configuration, resolvConf };
      await nodes.startMember('node-a', { ...plane, join: { ...plane.join, configuration } });
      await kubectl.wait('create', 'node/node-a');
      await kubectl.wait('condition=Ready', 'node/node-a');
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  test('the service kubernetes leads to the port of the control plane', async () => {
    const join = await hangar.up.client.raw({
      method: 'GET',
      target: '/apis/tenancy.hangar.dev/v1alpha1/tenants/red',
      headers: { accept: 'application/json' },
    });
    const { status } = JSON.parse((await join.body()).toString()) as { status: { nodes: { endpoint: string } } };
    const field = '{.endpoints[0].addresses[0]}:{.ports[0].port}';
    const endpoint = await kubectl.value(field, 'endpointslice/kubernetes');
    assert.equal(`https://${endpoint}`, status.nodes.endpoint);
    assert.ok(endpoint.startsWith(`${nodes.network.hostAddress}:`));
  });

  test('the kubelet has a serving certificate of the control plane', async () => {
    const names = (
      await kubectl.run('get', 'csr', '--field-selector=spec.signerName=kubernetes.io/kubelet-serving', '-o=name')
    ).trim();
    assert.notEqual(names, '');
    for (const name of names.split('\n')) await kubectl.wait('jsonpath={.status.certificate}', name);
  });

  test('pods resolve names through the addon', async () => {
    await kubectl.run('rollout', 'status', 'deployment/coredns', '--namespace=kube-system', '--timeout=110s');
    const script =
      'until nslookup kubernetes.default.svc.cluster.local; do sleep 0.2; done; echo "$KUBERNETES_SERVICE_HOST:443"';
    const command = ['sh', '-c', `(${script}) > /dev/termination-log 2>&1`];
    await kubectl.apply(pod('resolver', { command }));
    await kubectl.wait('jsonpath={.status.phase}=Succeeded', 'pod/resolver');
    const output = await kubectl.value('{.status.containerStatuses[0].state.terminated.message}', 'pod/resolver');
    const address = await kubectl.value('{.spec.clusterIP}', 'service/kubernetes');
    assert.ok(output.includes(`${address}:443`) && output.includes(`Address: ${address}`), output);
  });

  test('client-go in a pod reads the API with the token and CA of its service account', async () => {
    const command = ['/agnhost', 'inclusterclient', '--poll-interval=1'];
    await kubectl.apply(pod('client', { image: 'agnhost', command }));
    await kubectl.wait('condition=Ready', 'pod/client');
    await using session = new Session(kubectl.start('logs', '--follow', 'client'));
    // The second call follows the result of the first one.
    const [output] = await session.until(/calling \/healthz[^]*calling \/healthz/);
    assert.match(output, /authz_header=[-_\w]+/);
    assert.doesNotMatch(output, /status=failed/);
  });
});
