/**
 * Compares with the real kube-apiserver and kube-controller-manager: the smaller controllers produce the same results, except for random
 * values and properties of the server.
 */

import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Job } from '@hangar/client/kinds/batch-v1';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { ConfigMap, Namespace, Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import { certificateRequest } from '@hangar/pki/testing';
import { startTestFleet } from '@hangar/testkit';
import { refusedRequests, servingUsages, clientUsages } from './csr/testing/refused-requests.ts';
import { startRealControllers } from './testing/real-controllers.ts';
import { eventually, runControllers, testKeysOf } from './testing/run-controllers.ts';

const opened = new AsyncDisposableStack();
const namespace = 'shop';
const authority = createAuthority('signing', 1, { clock: systemClock, random: systemRandom });
const servingCa = createAuthority('serving', 1, { clock: systemClock, random: systemRandom }).certificate;
let clients: { readonly real: Client; readonly ours: Client };

const controllers = [
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
  'ttl-after-finished-controller',
  'bootstrap-signer-controller',
  'token-cleaner-controller',
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-signing-controller',
];

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-against-kube-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const serviceAccountKey = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const files = {
    'sa.key': serviceAccountKey,
    'ca.crt': servingCa,
    'sign.crt': authority.certificate,
    'sign.key': authority.key,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  const fleet = opened.use(await startTestFleet({ clusters: ['ours'] }));
  opened.use(
    runControllers(fleet, {
      keysOf: async (cluster) =>
        cluster === 'ours'
          ? { ...(await testKeysOf(fleet, cluster)), serviceAccountKey, servingCa, authority }
          : Promise.reject(new Error('not looked at')),
    }),
  );
  const { client: real } = opened.use(
    await startRealControllers(controllers, async () => {}, [
      `--service-account-private-key-file=${folder}/sa.key`,
      `--root-ca-file=${folder}/ca.crt`,
      `--cluster-signing-cert-file=${folder}/sign.crt`,
      `--cluster-signing-key-file=${folder}/sign.key`,
    ]),
  );
  clients = { real, ours: fleet.clientOf('ours') };
  await both((client) => client.create(Namespace, { metadata: { name: namespace } }));
});

after(() => opened.disposeAsync());

const both = <T>(act: (client: Client) => Promise<T>): Promise<[real: T, ours: T]> =>
  Promise.all([act(clients.real), act(clients.ours)]);

/** The reflectors of the real one start slowly. */
const within = { withinMs: 30_000 };

/** Asserts that both produce the same result. */
async function same<T>(look: (client: Client) => Promise<T>): Promise<void> {
  const [real, ours] = await both((client) => eventually(() => look(client), within));
  assert.deepEqual(ours, real);
}

test('accounts and CAs of namespaces', async () => {
  await same(async (client) => {
    const { metadata, ...content } = await client.get(ServiceAccount, { namespace, name: 'default' });
    return { ...content, labels: metadata.labels, annotations: metadata.annotations };
  });
  await same(async (client) => {
    const { metadata, ...content } = await client.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' });
    return { ...content, labels: metadata.labels, annotations: metadata.annotations };
  });
});

test('token secrets: claims, annotations, what is filled in', async () => {
  await both(async (client) => {
    await client.create(ServiceAccount, { metadata: { namespace, name: 'robot' } });
    const annotations = { 'kubernetes.io/service-account.name': 'robot' };
    const type = 'kubernetes.io/service-account-token';
    await client.create(Secret, { metadata: { namespace, name: 'robot', annotations }, type });
    await client.create(Secret, {
      metadata: { namespace, name: 'orphan', annotations: { 'kubernetes.io/service-account.name': 'nobody' } },
      type,
    });
  });
  await same(async (client) => {
    const { uid } = (await client.get(ServiceAccount, { namespace, name: 'robot' })).metadata;
    const { data, metadata } = await client.get(Secret, { namespace, name: 'robot' });
    const { token, ...rest } = data!;
    const parts = Buffer.from(token!, 'base64').toString().split('.').slice(0, 2);
    const told = JSON.stringify([rest, metadata.annotations, parts.map((part) => JSON.parse(decoded(part)) as object)]);
    return sorted(JSON.parse(told.replaceAll(uid!, 'uid')));
  });
  await same(async (client) => assert.equal(await find(client, Secret, { namespace, name: 'orphan' }), undefined));
});

const decoded = (part: string): string => Buffer.from(part, 'base64url').toString();

/** The order of fields does not matter. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
};

test('collected roles', async () => {
  const label = (to: string): Record<string, string> => ({ [`example.com/aggregate-to-${to}`]: 'true' });
  const rule = (...resources: string[]) => ({ apiGroups: ['example.com'], resources, verbs: ['get'] });
  const collecting = (name: string, labels = {}) => ({
    metadata: { name, labels },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: label(name) }, { matchLabels: label('all') }] },
    // Rules in a new role are overwritten.
    rules: [rule('gone')],
  });
  await both(async (client) => {
    await client.create(ClusterRole, collecting('boss'));
    await client.create(ClusterRole, collecting('clerk', label('boss')));
    await client.create(ClusterRole, collecting('empty'));
    await client.create(ClusterRole, {
      metadata: { name: 'z', labels: label('clerk') },
      rules: [rule('a'), rule('b')],
    });
    await client.create(ClusterRole, {
      metadata: { name: 'y', labels: label('clerk') },
      rules: [rule('b'), rule('c')],
    });
    await client.create(ClusterRole, { metadata: { name: 'x', labels: label('boss') }, rules: [rule('d', 'e')] });
  });
  await same(async (client) => {
    const { rules } = await client.get(ClusterRole, { name: 'boss' });
    assert.deepEqual(
      rules?.map(({ resources }) => resources),
      [['b'], ['c'], ['a'], ['d', 'e']],
    );
    return rules;
  });
  await same(async (client) => {
    // Roles are written one after the other: this one must be complete before the comparison.
    const clerk = await client.get(ClusterRole, { name: 'clerk' });
    assert.deepEqual(
      clerk.rules?.map(({ resources }) => resources),
      [['b'], ['c'], ['a']],
    );
    const { items } = await client.list(ClusterRole);
    return items
      .filter(({ metadata }) => ['boss', 'clerk', 'empty'].includes(metadata.name!))
      .map(({ metadata, rules }) => ({
        rules,
        owners: metadata.managedFields
          ?.filter(({ manager }) => manager === 'clusterrole-aggregation-controller')
          .map(({ operation, fieldsV1 }) => ({ operation, fieldsV1 })),
      }));
  });
});

test('jobs whose time is over', async () => {
  await both(async (client) => {
    const created = await client.create(Job, {
      metadata: { namespace, name: 'done' },
      spec: {
        ttlSecondsAfterFinished: 1,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } },
      },
    });
    const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, '');
    const condition = { status: 'True' as const, lastTransitionTime, lastProbeTime: lastTransitionTime };
    const conditions = [
      { type: 'SuccessCriteriaMet' as const, ...condition },
      { type: 'Complete' as const, ...condition },
    ];
    const status = { startTime: lastTransitionTime, completionTime: lastTransitionTime, conditions };
    await client.status.update(Job, { ...created, status });
  });
  await same(async (client) => {
    const job = await find(client, Job, { namespace, name: 'done' });
    // The garbage collector runs here, too.
    if (!job && client === clients.ours) return ['foregroundDeletion'];
    assert.ok(job?.metadata.deletionTimestamp);
    return job.metadata.finalizers;
  });
});

test('bootstrap tokens: signatures to the byte, and ends', async () => {
  const data = { kubeconfig: 'apiVersion: v1\nkind: Config\n' };
  const metadata = { namespace: 'kube-public', name: 'cluster-info' };
  const token = (id: string, more: Record<string, string> = {}) => ({
    metadata: { namespace: 'kube-system', name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true', ...more },
  });
  const later = new Date(Date.now() + 4_000).toISOString().replace(/\.\d+/, '');
  await both(async (client) => {
    if (client === clients.real) await client.create(ConfigMap, { metadata, data });
    else await client.patch(ConfigMap, metadata, { type: 'merge', body: { data } });
    await client.create(Secret, token('aaaaaa'));
    await client.create(Secret, token('bbbbbb', { expiration: later }));
    await client.create(Secret, token('cccccc', { expiration: 'never' }));
    await client.create(Secret, token('dddddd', { 'usage-bootstrap-signing': 'false' }));
  });
  const ended = async (client: Client, id: string): Promise<void> =>
    assert.equal(await find(client, Secret, { namespace: 'kube-system', name: `bootstrap-token-${id}` }), undefined);
  await same(async (client) => {
    for (const id of ['bbbbbb', 'cccccc']) await ended(client, id);
    const info = await client.get(ConfigMap, metadata);
    assert.deepEqual(Object.keys(info.data!).sort(), ['jws-kubeconfig-aaaaaa', 'kubeconfig']);
    return info.data;
  });
});

describe('requests for certificates', () => {
  const identifiers = {
    keyUsage: '551d0f',
    purposes: '551d25',
    constraints: '551d13',
    names: '551d11',
    issuer: '551d23',
  };

  /** Returns an extension as encoded, from its identifier to the end. */
  function extensionOf(raw: Buffer, identifier: string): string | undefined {
    const at = raw.indexOf(Buffer.from(`0603${identifier}`, 'hex'));
    if (at < 0) return undefined;
    const whole = raw[at - 1]!;
    return raw.subarray(at, at + whole).toString('hex');
  }

  const seen = ({ status }: CertificateSigningRequest): object => {
    const certificate = new X509Certificate(Buffer.from(status!.certificate!, 'base64'));
    const { subject, issuer, ca, validFromDate, validToDate, raw } = certificate;
    assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
    return {
      // The CA limits the lifetime, so that both certificates expire in the same second.
      endsAt: validToDate.getTime(),
      isBackdated: Math.round((Date.now() - validFromDate.getTime()) / 60_000),
      subject: subject.split('\n').sort(),
      issuer,
      ca,
      extensions: Object.entries(identifiers).map(([name, identifier]) => [name, extensionOf(raw, identifier)]),
      conditions: status!.conditions!.map(({ type, reason, message }) => ({ type, reason, message })),
    };
  };

  const approve = async (client: Client, name: string): Promise<void> => {
    const live = await client.get(CertificateSigningRequest, { name });
    const conditions = [{ type: 'Approved', status: 'True' as const, reason: 'Test', message: '' }];
    await client.subresource('approval').update(CertificateSigningRequest, { ...live, status: { conditions } });
  };

  const issued = (name: string): Promise<void> =>
    same(async (client) => {
      const live = await client.get(CertificateSigningRequest, { name });
      assert.ok(live.status?.certificate);
      return seen(live);
    });

  const names = {
    dnsNames: ['one.example', 'two.example'],
    ipAddresses: [Buffer.of(10, 0, 0, 1), Buffer.alloc(16, 7)],
  };
  const wanted = {
    node: {
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      request: certificateRequest('system:node:one', ['system:nodes']),
      usages: ['digital signature', 'client auth'],
    },
    client: {
      signerName: 'kubernetes.io/kube-apiserver-client',
      request: certificateRequest('jane', ['a', 'b'], {
        ...names,
        emailAddresses: ['jane@example.com'],
        uris: ['spiffe://example.com/jane'],
        attributes: [
          ['2.5.4.11', 'unit'],
          ['2.5.4.6', 'CH'],
          ['1.3.6.1.4.1.57683.2', 'a-uid'],
        ],
      }),
      usages: clientUsages,
    },
    serving: {
      signerName: 'kubernetes.io/kubelet-serving',
      request: certificateRequest('system:node:one', ['system:nodes'], names),
      usages: servingUsages,
    },
  };

  test('of nodes are approved and signed without anybody', async () => {
    const spec = { ...wanted.node, usages: wanted.node.usages as never };
    await both((client) => client.create(CertificateSigningRequest, { metadata: { name: 'node' }, spec }));
    await issued('node');
  });

  for (const kind of ['client', 'serving'] as const) {
    test(`for ${kind} certificates are signed when they were approved`, async () => {
      const spec = { ...wanted[kind], usages: wanted[kind].usages as never };
      await both((client) => client.create(CertificateSigningRequest, { metadata: { name: kind }, spec }));
      await both((client) => approve(client, kind));
      await issued(kind);
    });
  }

  test('that a signer does not sign fail for the same reasons', async () => {
    for (const [what, spec] of Object.entries(refusedRequests)) {
      const name = what.replaceAll(' ', '-');
      const usages = [...spec.usages] as never;
      await both((client) =>
        client.create(CertificateSigningRequest, { metadata: { name }, spec: { ...spec, usages } }),
      );
      await both((client) => approve(client, name));
    }
    for (const what of Object.keys(refusedRequests)) {
      await same(async (client) => {
        const { status } = await client.get(CertificateSigningRequest, { name: what.replaceAll(' ', '-') });
        const failed = status?.conditions?.find(({ type }) => type === 'Failed');
        assert.ok(failed, what);
        return { what, status: failed.status, reason: failed.reason, message: failed.message };
      });
    }
  });
});
