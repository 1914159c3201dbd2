/** Cases: the node of another control plane, which joined it with kubeadm, has no access to this one. */

import assert from 'node:assert/strict';
import { request } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate } from '@hangar/pki';
import { kubeadmJoin } from '../machine/kubeadm.ts';
import type { Node } from '@hangar/cli/machine';
import type { ClusterOf } from '../testing/cluster.ts';
import { Kubectl } from '../testing/kubectl.ts';
import { pod } from '../testing/objects.ts';
import type { NodePlane } from '../control-planes/node-plane.ts';

export interface OtherTenant {
  readonly plane: NodePlane;
  /** `kubeadm join …`. */
  readonly joinCommand: string;
  readonly node: Node;
}

const nodeKubeconfig = '/etc/kubernetes/kubelet.conf';
const nodeCertificate = '/var/lib/kubelet/pki/kubelet-client-current.pem';
const unauthorized = /error: You must be logged in to the server|Unauthorized/;

export function otherTenantCases(cluster: ClusterOf, other: () => OtherTenant): void {
  /** Runs kubectl on the node of the other control plane, as its kubelet. */
  const asNode = async (...args: string[]): Promise<string> => {
    const { node } = other();
    const [program, , ...rest] = (await Kubectl.of('')).command(...args);
    return node.run(program!, `--kubeconfig=${nodeKubeconfig}`, ...rest);
  };

  test('a node joins another control plane with kubeadm and becomes ready', async () => {
    const { plane, node, joinCommand } = other();
    await kubeadmJoin(node, joinCommand);
    const kubectl = await Kubectl.of(plane.kubeconfig);
    await kubectl.wait('create', `node/${node.name}`);
    await kubectl.wait('condition=Ready', `node/${node.name}`);
    const user = await asNode('auth', 'whoami', '--output=jsonpath={.status.userInfo.username}');
    assert.equal(user, `system:node:${node.name}`);
  });

  test('it reads only the Secrets of its own pods', async () => {
    const { plane, node } = other();
    const kubectl = await Kubectl.of(plane.kubeconfig);
    await kubectl.run('create', 'secret', 'generic', 'used', '--from-literal=key=used');
    await kubectl.run('create', 'secret', 'generic', 'unused', '--from-literal=key=unused');
    await kubectl.wait('create', 'serviceaccount/default');
    const one = pod('user', { command: ['sleep', '1000'], nodeName: node.name }) as { spec: object };
    const volumes = [{ name: 'secret', secret: { secretName: 'used' } }];
    await kubectl.apply({ ...one, spec: { ...one.spec, volumes } });
    await kubectl.wait('condition=Ready', 'pod/user');
    assert.match(await asNode('get', 'secret', 'used', '--output=name'), /^secret\/used/);
    await assert.rejects(asNode('get', 'secret', 'unused'), /no relationship found between node/);
    await assert.rejects(asNode('get', 'secrets'), /Forbidden/);
  });

  test('it cannot read Secrets and logs of the first control plane, or run commands there', async () => {
    const { plane, kubectl } = cluster();
    await kubectl.run('create', 'secret', 'generic', 'private', '--from-literal=key=private');
    await kubectl.apply(pod('private', { command: ['sleep', '1000'], nodeName: 'node-a' }));
    await kubectl.wait('condition=Ready', 'pod/private');
    const byPath = (await kubectl.run('config', 'view', '--output=jsonpath={.clusters[0].cluster.server}')).trim();
    for (const server of [plane.server, byPath]) {
      const there = [`--server=${server}`, '--insecure-skip-tls-verify', '--certificate-authority='];
      const commands = [
        ['get', 'secret', 'private'],
        ['get', 'secrets', '--all-namespaces'],
        ['logs', 'private'],
        ['exec', 'private', '--', 'true'],
        ['get', '--raw=/api/v1/nodes/node-a/proxy/pods'],
      ];
      for (const command of commands)
        await assert.rejects(asNode(...there, ...command), unauthorized, command.join(' '));
    }
  });

  test('the kubelets of the first control plane refuse certificates of the other one', async () => {
    const { nodes } = cluster();
    const { plane, node } = other();
    const world = { clock: systemClock, random: systemRandom };
    const name = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] };
    const server = issueCertificate(plane.authority, { ...name, usage: 'client', days: 1 }, world);
    const kubelet = await node.readFile(nodeCertificate);
    for (const [cert, key] of [
      [server.certificate, server.key],
      [kubelet, kubelet],
    ]) {
      for (const path of ['/pods', '/containerLogs/default/private/main', '/exec/default/private/main?command=true']) {
        assert.equal(await statusOf(nodes[0], path, { cert: cert!, key: key! }), 401, path);
      }
    }
  });
}

async function statusOf(node: Node, path: string, credentials: { cert: string; key: string }): Promise<number> {
  const options = { ...credentials, rejectUnauthorized: false, agent: false };
  const outgoing = request(`https://${node.addresses.address}:10250${path}`, options);
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode!;
}
