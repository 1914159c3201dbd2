import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { ConfigMap, Endpoints, Node } from '@hangar/client/kinds/core-v1';
import { certificateRequest } from '@hangar/pki/testing';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet, TestUser } from '@hangar/testkit';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { KubeletServingApproverController } from './kubelet-serving-approver.ts';
import { clientUsages, servingUsages } from './testing/refused-requests.ts';

const controllers = () => [new KubeletServingApproverController()];
const userOf = (node: string): TestUser => ({
  name: `system:node:${node}`,
  groups: ['system:nodes', 'system:authenticated'],
});
const mapped = (...bytes: number[]): Buffer => Buffer.of(...Array.from({ length: 10 }, () => 0), 255, 255, ...bytes);
const ip = (...bytes: number[]): Buffer => Buffer.of(...bytes);

interface Wanted {
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly Buffer[];
  readonly of?: string;
  readonly usages?: readonly string[];
}

const csr = (name: string, { of = 'one', usages = servingUsages, ...names }: Wanted) => ({
  metadata: { name },
  spec: {
    signerName: 'kubernetes.io/kubelet-serving',
    request: certificateRequest(`system:node:${of}`, ['system:nodes'], names),
    usages: [...usages] as never,
  },
});

async function makeNode(client: Client, name: string, addresses: Record<string, string>): Promise<void> {
  const node = await client.create(Node, { metadata: { name } });
  const listed = Object.entries(addresses).map(([type, address]) => ({ type, address }));
  await client.status.update(Node, { ...node, status: { addresses: listed as never } });
}

/** Sets the addresses of the API server. */
async function nameServer(client: Client): Promise<void> {
  const subsets = [{ addresses: [{ ip: '10.2.0.1' }], ports: [{ port: 7_500 }] }];
  const kubernetes = { namespace: 'default', name: 'kubernetes' };
  await client.patch(Endpoints, kubernetes, { type: 'merge', body: { subsets } });
  const kubeconfig = 'clusters:\n- cluster:\n    server: https://api.example:7500\n';
  const info = { namespace: 'kube-public', name: 'cluster-info' };
  await client.patch(ConfigMap, info, { type: 'merge', body: { data: { kubeconfig } } });
}

const isApproved = async (client: Client, name: string): Promise<boolean> =>
  (await client.get(CertificateSigningRequest, { name })).status?.conditions?.some(({ type }) => type === 'Approved') ??
  false;

const createAs = (fleet: TestFleet, user: TestUser, request: ReturnType<typeof csr>): Promise<unknown> =>
  eventually(() => fleet.clientOf('red', user).create(CertificateSigningRequest, request));

describe('requests of kubelets for serving certificates', () => {
  test('are approved for the names and addresses of their node, also when it reports them later', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using _ = runControllers(fleet, { controllers });
    const red = fleet.clientOf('red');
    const wanted = { dnsNames: ['one.example'], ipAddresses: [ip(10, 1, 0, 7), Buffer.from([...v6])] };
    await createAs(fleet, userOf('one'), csr('early', wanted));
    await makeNode(red, 'one', {
      Hostname: 'one.example',
      InternalIP: '10.1.0.7',
      ExternalIP: 'fd00:0:0::7',
    });
    await createAs(fleet, userOf('one'), csr('later', { ipAddresses: [ip(10, 1, 0, 7)] }));
    await eventually(async () => assert.ok(await isApproved(red, 'later')));
    await eventually(async () => assert.ok(await isApproved(red, 'early')));
  });

  test('wait for an administrator if they name anything else', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using running = runControllers(fleet, { controllers });
    const red = fleet.clientOf('red');
    await makeNode(red, 'one', {
      Hostname: 'kubernetes.default.svc',
      InternalIP: '10.1.0.7',
      ExternalIP: '127.0.0.1',
      InternalDNS: 'localhost',
      ExternalDNS: '10.0.0.1',
    });
    await makeNode(red, 'two', { InternalIP: '10.1.0.8' });
    await makeNode(red, 'thief', { InternalIP: '10.1.0.8' });
    await makeNode(red, 'mapped', {
      InternalIP: '::ffff:10.0.0.1',
      ExternalIP: '::ffff:a01:8',
      Hostname: 'two',
    });
    await makeNode(red, 'server', {
      InternalIP: '10.2.0.1',
      InternalDNS: 'api.example',
      Hostname: 'webhook.default.svc',
      ExternalDNS: '*.example',
    });
    await nameServer(red);
    const refused: Readonly<Record<string, [TestUser, Wanted]>> = {
      'foreign-address': [userOf('one'), { ipAddresses: [ip(10, 1, 0, 7), ip(10, 1, 0, 9)] }],
      'foreign-name': [userOf('one'), { dnsNames: ['two'], ipAddresses: [ip(10, 1, 0, 7)] }],
      'server-name': [userOf('one'), { dnsNames: ['kubernetes.default.svc'] }],
      'upper-case': [userOf('one'), { dnsNames: ['Kubernetes.default.SVC'] }],
      'service-address': [userOf('one'), { ipAddresses: [ip(10, 0, 0, 1)] }],
      'loopback-address': [userOf('one'), { ipAddresses: [ip(127, 0, 0, 1)] }],
      localhost: [userOf('one'), { dnsNames: ['localhost'] }],
      'mapped-service-address': [userOf('mapped'), { of: 'mapped', ipAddresses: [mapped(10, 0, 0, 1)] }],
      'mapped-address': [userOf('mapped'), { of: 'mapped', ipAddresses: [mapped(10, 1, 0, 8)] }],
      'server-address': [userOf('server'), { of: 'server', ipAddresses: [ip(10, 2, 0, 1)] }],
      'join-address': [userOf('server'), { of: 'server', dnsNames: ['api.example'] }],
      'service-name': [userOf('server'), { of: 'server', dnsNames: ['webhook.default.svc'] }],
      wildcard: [userOf('server'), { of: 'server', dnsNames: ['*.example'] }],
      'name-of-another-node': [userOf('mapped'), { of: 'mapped', dnsNames: ['two'] }],
      'stolen-address': [userOf('thief'), { of: 'thief', ipAddresses: [ip(10, 1, 0, 8)] }],
      'other-node': [userOf('two'), { of: 'one', ipAddresses: [ip(10, 1, 0, 7)] }],
      'client-usages': [userOf('one'), { ipAddresses: [ip(10, 1, 0, 7)], usages: clientUsages }],
      'no-node': [userOf('none'), { of: 'none', ipAddresses: [ip(10, 1, 0, 7)] }],
      administrator: [{ name: 'system:node:one', groups: ['system:masters'] }, { ipAddresses: [ip(10, 1, 0, 7)] }],
    };
    for (const [name, [user, wanted]] of Object.entries(refused)) {
      await (name === 'other-node' || name === 'client-usages'
        ? fleet
            .clientOf('red', user)
            .create(CertificateSigningRequest, csr(name, wanted))
            .catch(() => undefined)
        : createAs(fleet, user, csr(name, wanted)));
    }
    await createAs(fleet, userOf('one'), csr('right', { ipAddresses: [ip(10, 1, 0, 7)] }));
    await eventually(async () => assert.ok(await isApproved(red, 'right')));
    await eventually(() => running.set.length <= Object.keys(refused).length);
    const { items } = await red.list(CertificateSigningRequest);
    const approved = items.filter(({ status }) => status?.conditions?.some(({ type }) => type === 'Approved'));
    assert.deepEqual(
      approved.map(({ metadata }) => metadata.name),
      ['right'],
    );
  });
});

const v6 = [0xfd, 0, ...Array.from({ length: 13 }, () => 0), 7];
