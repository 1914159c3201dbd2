import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { SelfSubjectReview } from '@hangar/client/kinds/authentication-v1';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { readCertificateRequest } from '@hangar/pki';
import { certificateRequest, newRequest } from '@hangar/pki/testing';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet, TestUser } from '@hangar/testkit';
import type { ControllerWorld } from '../contract.ts';
import { fleetKeys } from '../testing/fleet-keys.ts';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { CsrApproverController } from './approver.ts';
import { clientUsages, refusedRequests, servingUsages } from './testing/refused-requests.ts';
import { CsrSignerController } from './signer.ts';
import { signers } from './signers.ts';
import { usagesOf } from './usages.ts';

const controllers = (world: ControllerWorld) => [new CsrApproverController(), new CsrSignerController(world)];
const client = 'kubernetes.io/kube-apiserver-client';
const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet';
const serving = 'kubernetes.io/kubelet-serving';

interface Wanted {
  readonly signerName: string;
  readonly request: string;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
}

const csr = (name: string, { usages = clientUsages, ...spec }: Wanted) => ({
  metadata: { name },
  spec: { ...spec, usages: [...usages] as never },
});

async function approve(admin: Client, name: string): Promise<void> {
  const live = await admin.get(CertificateSigningRequest, { name });
  const conditions = [
    ...(live.status?.conditions ?? []),
    { type: 'Approved', status: 'True' as const, reason: 'Test' },
  ];
  await admin.subresource('approval').update(CertificateSigningRequest, { ...live, status: { conditions } });
}

const settled = (admin: Client, name: string): Promise<CertificateSigningRequest> =>
  eventually(async () => {
    const live = await admin.get(CertificateSigningRequest, { name });
    assert.ok(live.status?.certificate || live.status?.conditions?.some(({ type }) => type === 'Failed'));
    return live;
  });

const certificateOf = ({ status }: CertificateSigningRequest): X509Certificate =>
  new X509Certificate(Buffer.from(status!.certificate!, 'base64'));

const failureOf = ({ status }: CertificateSigningRequest): string | undefined =>
  status?.conditions?.find(({ type, reason }) => type === 'Failed' && reason === 'SignerValidationFailure')?.message;

const bootstrapper: TestUser = {
  name: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers', 'system:authenticated'],
};
const node: TestUser = { name: 'system:node:one', groups: ['system:nodes', 'system:authenticated'] };

const bound = (role: string, group: string) => ({
  metadata: { name: role.replaceAll(':', '-') },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
});

describe('requests that were approved', () => {
  test('are signed with the CA of their own control plane, which knows their user from then on, and no other does', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
    const keys = fleetKeys(fleet);
    await using _ = runControllers(fleet, { controllers, keysOf: keys.of });
    for (const cluster of ['red', 'blue']) {
      const admin = fleet.clientOf(cluster);
      const request = certificateRequest('jane', ['shop:admins']);
      await admin.create(CertificateSigningRequest, csr('jane', { signerName: client, request }));
      await approve(admin, 'jane');
      const certificate = certificateOf(await settled(admin, 'jane'));
      assert.equal(certificate.subject.split('\n').sort().join(), 'CN=jane,O=shop:admins');
      for (const other of ['red', 'blue']) {
        const { authority } = await keys.of(other);
        const issuer = new X509Certificate(authority.certificate);
        assert.equal(certificate.verify(issuer.publicKey), other === cluster, `${cluster}'s, with ${other}'s CA`);
      }
    }
  });

  test('open the control plane that they are of to their user over TLS, no other one, and only if they are for clients', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'], listen: true });
    await using _ = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    const wanted = {
      jane: { signerName: client, options: {}, usages: clientUsages, user: 'jane', groups: ['shop:admins', 'more'] },
      server: {
        signerName: serving,
        options: { dnsNames: ['one.example'] },
        usages: servingUsages,
        user: 'system:node:one',
        groups: ['system:nodes'],
      },
    };
    const pairs = new Map<string, { certificate: string; key: string }>();
    for (const [name, { signerName, options, usages, user, groups }] of Object.entries(wanted)) {
      const { key, pem } = newRequest(user, groups, options);
      const request = Buffer.from(pem).toString('base64');
      await red.create(CertificateSigningRequest, csr(name, { signerName, request, usages }));
      await approve(red, name);
      const { status } = await settled(red, name);
      const certificate = Buffer.from(status!.certificate!, 'base64').toString();
      pairs.set(name, { certificate, key: key.export({ type: 'pkcs8', format: 'pem' }) as string });
    }
    const whoIs = async (cluster: string, name: string) => {
      const pair = pairs.get(name)!;
      const credentials = { headers: () => ({}), clientCertificate: () => Promise.resolve(pair), fingerprint: name };
      const user = connect({ ...fleet.configOf(cluster), credentials });
      try {
        const { status } = await user.create(SelfSubjectReview, { metadata: {} });
        return status?.userInfo;
      } finally {
        await user.close();
      }
    };
    const jane = await whoIs('red', 'jane');
    assert.equal(jane?.username, 'jane');
    assert.deepEqual(jane?.groups?.toSorted(), ['more', 'shop:admins', 'system:authenticated']);
    await assert.rejects(whoIs('blue', 'jane'), { code: 'Unauthorized' });
    await assert.rejects(whoIs('red', 'server'), { code: 'Unauthorized' });
  });

  test('live for as long as they ask, from ten minutes to a year', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using _ = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    const cases: [seconds: number | undefined, lives: number][] = [
      [undefined, 365 * 86_400],
      [600, 600 + 300],
      [7_200, 7_200 + 300],
      [86_400, 86_400],
      [2_000_000_000, 365 * 86_400],
    ];
    for (const [at, [expirationSeconds, lives]] of cases.entries()) {
      const name = `case-${at}`;
      const wanted = { signerName: client, request: certificateRequest('jane') };
      const asked = expirationSeconds === undefined ? wanted : { ...wanted, expirationSeconds };
      await red.create(CertificateSigningRequest, csr(name, asked));
      await approve(red, name);
      const { validFromDate, validToDate } = certificateOf(await settled(red, name));
      assert.equal((validToDate.getTime() - validFromDate.getTime()) / 1_000, lives, `${expirationSeconds}`);
    }
  });

  const nodeRequest = (options = {}) => certificateRequest('system:node:one', ['system:nodes'], options);
  /** Texts of kube-controller-manager, compared in against-kube.real.ts. */
  const reasons: Readonly<Record<string, string>> = {
    'client with another usage': 'invalid usage for client certificate: server auth',
    'client without its usage': 'missing required usage for client certificate: client auth',
    'kubelet of no node': 'subject common name does not begin with system:node:',
    'kubelet in more groups': 'subject organization is not system:nodes',
    'kubelet with a name': 'DNS subjectAltNames are not allowed',
    'kubelet with other usages': 'usages did not match [client auth digital signature key encipherment]',
    'serving without a name': 'DNS or IP subjectAltName is required',
  };

  test('fail with the reason when their signer does not sign such', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using running = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    for (const [what, wanted] of Object.entries(refusedRequests)) {
      const name = what.replaceAll(' ', '-');
      await red.create(CertificateSigningRequest, csr(name, wanted));
      await approve(red, name);
      const live = await settled(red, name);
      assert.ok(failureOf(live), what);
      if (reasons[what]) assert.equal(failureOf(live), reasons[what], what);
      assert.equal(live.status?.certificate, undefined);
    }
    await eventually(() => running.set.length === 0);
  });

  test('are signed as kubelets’ serving certificates', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using _ = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    const request = nodeRequest({ dnsNames: ['one.example'], ipAddresses: [Buffer.of(10, 0, 0, 1)] });
    const usages = ['digital signature', 'server auth'];
    await red.create(CertificateSigningRequest, csr('serves', { signerName: serving, request, usages }));
    await approve(red, 'serves');
    const served = certificateOf(await settled(red, 'serves'));
    assert.ok(served.checkHost('one.example') && served.checkIP('10.0.0.1'));
    assert.deepEqual(served.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  });

  test('of signers that are not Kubernetes’, and those that nobody approved or somebody denied, are left alone', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using running = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    const request = certificateRequest('jane');
    const names = ['foreign', 'waiting', 'denied'];
    for (const name of names) {
      const signerName = name === 'foreign' ? 'example.com/mine' : client;
      await red.create(CertificateSigningRequest, csr(name, { signerName, request }));
    }
    await approve(red, 'foreign');
    const live = await red.get(CertificateSigningRequest, { name: 'denied' });
    const conditions = [{ type: 'Denied', status: 'True' as const, reason: 'Test' }];
    await red.subresource('approval').update(CertificateSigningRequest, { ...live, status: { conditions } });
    await red.create(CertificateSigningRequest, csr('signed', { signerName: client, request }));
    await approve(red, 'signed');
    await settled(red, 'signed');
    await eventually(() => running.set.length === 0);
    for (const name of names) {
      const { status } = await red.get(CertificateSigningRequest, { name });
      assert.equal(status?.certificate, undefined, name);
      assert.ok(!status?.conditions?.some(({ type }) => type === 'Failed'), name);
    }
  });
});

describe('requests of kubelets', () => {
  /** Creates the request as soon as the authorizer has seen the bindings of the user. */
  const createAs = (fleet: TestFleet, user: TestUser, request: ReturnType<typeof csr>): Promise<unknown> =>
    eventually(() => fleet.clientOf('red', user).create(CertificateSigningRequest, request));
  const approvalOf = async (admin: Client, name: string) =>
    (await admin.get(CertificateSigningRequest, { name })).status?.conditions?.find(({ type }) => type === 'Approved');

  test('are approved for those who may join nodes, and for nodes that renew their own', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using _ = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    const may = 'system:certificates.k8s.io:certificatesigningrequests:';
    await red.create(ClusterRoleBinding, bound('system:node-bootstrapper', 'system:bootstrappers'));
    await red.create(ClusterRoleBinding, bound(`${may}nodeclient`, 'system:bootstrappers'));
    await red.create(ClusterRoleBinding, bound(`${may}selfnodeclient`, 'system:nodes'));
    const wanted = (name: string): Wanted => ({
      signerName: kubelet,
      request: certificateRequest(`system:node:${name}`, ['system:nodes']),
    });
    await createAs(fleet, bootstrapper, csr('joins', wanted('one')));
    const joined = await settled(red, 'joins');
    assert.deepEqual(certificateOf(joined).keyUsage, ['1.3.6.1.5.5.7.3.2']);
    const joining = await approvalOf(red, 'joins');
    assert.equal(joining?.reason, 'AutoApproved');
    assert.equal(joining?.message, 'Auto approving kubelet client certificate after SubjectAccessReview.');
    await createAs(fleet, node, csr('renews', wanted('one')));
    await settled(red, 'renews');
    const renewal = await approvalOf(red, 'renews');
    assert.equal(renewal?.message, 'Auto approving self kubelet client certificate after SubjectAccessReview.');
  });

  test('of those who may not, for others, or for more than such a certificate wait for somebody to decide', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using running = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    const may = 'system:certificates.k8s.io:certificatesigningrequests:';
    await red.create(ClusterRoleBinding, bound('system:node-bootstrapper', 'system:bootstrappers'));
    const nodes = ['system:nodes'];
    const named = certificateRequest('system:node:one', nodes, { dnsNames: ['one.example'] });
    await createAs(fleet, bootstrapper, csr('names', { signerName: kubelet, request: named }));
    await createAs(
      fleet,
      bootstrapper,
      csr('usages', {
        signerName: kubelet,
        request: certificateRequest('system:node:one', nodes),
        usages: servingUsages,
      }),
    );
    await createAs(fleet, bootstrapper, csr('serves', { signerName: serving, request: named, usages: servingUsages }));
    const request = certificateRequest('system:node:one', nodes);
    await createAs(fleet, bootstrapper, csr('later', { signerName: kubelet, request }));
    await eventually(() => running.set.length === 1);
    for (const name of ['names', 'usages', 'serves', 'later'])
      assert.equal(await approvalOf(red, name), undefined, name);
    // It is retried with back-off until it is authorized.
    await red.create(ClusterRoleBinding, bound(`${may}nodeclient`, 'system:bootstrappers'));
    await settled(red, 'later');
    for (const name of ['names', 'usages', 'serves']) assert.equal(await approvalOf(red, name), undefined, name);
  });
});

test('the signer of old signs anything, for objects of a time when there was one', () => {
  // Served versions of the API reject new ones.
  const request = readCertificateRequest(newRequest('any', ['group']).pem);
  const check = signers.get('kubernetes.io/legacy-unknown')!;
  assert.equal(check(request, new Set(['cert sign', 'any'])), undefined);
});

test('usages are written under Kubernetes’ names, each once, in one order', () => {
  const asked = ['s/mime', 'client auth', 'cert sign', 'any', 'email protection', 'signing', 'digital signature'];
  assert.deepEqual(usagesOf(asked), {
    keyUsage: 0b100001,
    extendedKeyUsage: ['2.5.29.37.0', '1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.4'],
  });
  assert.deepEqual(usagesOf(['decipher only', 'encipher only', 'key agreement']), {
    keyUsage: 0b110010000,
    extendedKeyUsage: [],
  });
  assert.equal(usagesOf(['client auth', 'toString', 'flying']), 'unrecognized usage values: ["toString" "flying"]');
});
