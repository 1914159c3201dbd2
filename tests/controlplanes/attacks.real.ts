/**
 * The control-plane operator acts for many users with permissions that none of them has. The attackers would like to use these permissions:
 * users of the management plane who may write one kind only, and administrators of control planes, who may do everything in theirs. After
 * each attempt the control plane of another user must be unchanged.
 */

import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { configOfKubeconfig, find, hasCode } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import {
  annotations,
  ControlPlane,
  ControlPlaneClass,
  ControlPlaneEndpoint,
  ControlPlaneRegistration,
  controllersAnnotation,
  managementNamespace,
  Tenant,
} from '@hangar/controlplane-operator';
import type { ControlPlaneRegistrationSpec, ControlPlaneSpec } from '@hangar/controlplane-operator';
import { findCondition } from '@hangar/runtime';
import { startTestPlatform } from '../../operators/controlplane/src/testing/platform.ts';
import { until, untilGone, untilReady, untilReason } from '../../operators/controlplane/src/testing/until.ts';
import { Up } from './testing/up.ts';

const treasure = 'only-for-the-bank-77aa';
const bankHost = 'bank.example.com';
const platformHost = 'hangar.example.com';

let up: Up;
/** Has all permissions for ControlPlanes. */
let mallory: Client;
/** Has all permissions for registrations and endpoints, except their statuses. */
let registrar: Client;
/** May write the status of endpoints. */
let provider: Client;

async function grant(user: string, resources: readonly string[]): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const rules = [{ apiGroups: ['controlplane.kplane.dev'], resources: [...resources], verbs: ['*'] }];
  await up.client.create(ClusterRole, { metadata: { name: user }, rules });
  await up.client.create(ClusterRoleBinding, {
    metadata: { name: user },
    roleRef: { apiGroup, kind: 'ClusterRole', name: user },
    subjects: [{ kind: 'User', apiGroup, name: user }],
  });
}

before(async () => {
  up = await Up.start({
    flags: ['--store=memory', `--external-url=https://${platformHost}:6443`],
    users: ['mallory', 'registrar', 'provider'],
  });
  [mallory, registrar, provider] = ['mallory', 'registrar', 'provider'].map((user) => up.asUser(user)) as [
    Client,
    Client,
    Client,
  ];
  await grant('mallory', ['controlplanes']);
  await grant('registrar', ['controlplaneregistrations', 'controlplaneendpoints']);
  await grant('provider', ['controlplaneendpoints/status']);
  await up.create('bank', { endpointPolicy: { hostname: bankHost }, deletionPolicy: 'Destroy' });
  const bank = await up.inside('bank');
  await bank.create(ConfigMap, { metadata: { namespace: 'default', name: 'vault' }, data: { treasure } });
  const { uid } = (await up.client.get(Tenant, { name: 'bank' })).metadata;
  const secret = await bankSecret();
  isUntouched = async () => {
    const tenant = await up.client.get(Tenant, { name: 'bank' });
    assert.deepEqual([tenant.metadata.uid, tenant.spec?.hosts], [uid, [bankHost]]);
    assert.equal(tenant.metadata.annotations?.[controllersAnnotation], undefined);
    assert.equal(tenant.metadata.annotations?.[annotations.name], 'bank');
    assert.deepEqual(await bankSecret(), secret);
    const vault = await (await up.inside('bank')).get(ConfigMap, { namespace: 'default', name: 'vault' });
    assert.deepEqual(vault.data, { treasure });
  };
});
after(() => up?.[Symbol.asyncDispose]());

const bankSecret = async () =>
  (await up.client.get(Secret, { namespace: 'kplane-cp-bank', name: 'controlplane-bank-kubeconfig' })).data;
let isUntouched: () => Promise<void>;

const isRefused = (error: unknown): boolean => hasCode(error, 'Forbidden');

/** Creates a control plane as mallory, checks the outcome, and deletes it. */
async function attempt(name: string, spec: ControlPlaneSpec, reason: string, more: object = {}): Promise<void> {
  await mallory.create(ControlPlane, { metadata: { name, ...more }, spec });
  const { status } = await untilReason(mallory, name, reason);
  assert.equal(status?.kubeconfigSecretRef, undefined);
  await isUntouched();
  await mallory.delete(ControlPlane, { name });
  await untilGone(mallory, ControlPlane, name);
  await isUntouched();
}

describe('who may write ControlPlanes, and nothing else', () => {
  test('cannot read or write what the operator keeps for them', async () => {
    await assert.rejects(mallory.list(Secret, { namespace: 'kplane-cp-bank' }), isRefused);
    const addon = { namespace: 'kplane-system', name: 'x', labels: { 'controlplane.kplane.dev/addon': 'starter' } };
    await assert.rejects(mallory.create(ConfigMap, { metadata: addon }), isRefused);
    await assert.rejects(mallory.list(Tenant), isRefused);
    await assert.rejects(mallory.subresource('kubeconfig').create(Tenant, { name: 'bank' }, { spec: {} }), isRefused);
    await assert.rejects(mallory.list(ControlPlaneClass), isRefused);
    const body = { status: { kubeconfigSecretRef: { namespace: 'kube-system', name: 'x' } } };
    await assert.rejects(mallory.status.patch(ControlPlane, { name: 'bank' }, { type: 'merge', body }), isRefused);
  });

  test('does not get the control plane of another user by its path, also with forged claims', async () => {
    await attempt('thief', { virtual: { clusterPath: 'bank' }, deletionPolicy: 'Destroy' }, 'ClusterPathConflict');
    const claim = { [annotations.name]: 'bank', 'controlplane.kplane.dev/adopt-by': 'thief', [annotations.uid]: 'x' };
    await attempt('thief', { virtual: { clusterPath: 'bank' } }, 'ClusterPathConflict', { annotations: claim });
  });

  test('does not get a Tenant that no ControlPlane created, or one that is retained for another ControlPlane', async () => {
    await up.client.create(Tenant, { metadata: { name: 'by-hand' }, spec: {} });
    await attempt('thief', { virtual: { clusterPath: 'by-hand' }, deletionPolicy: 'Destroy' }, 'ClusterPathConflict');
    const annotations = { 'controlplane.kplane.dev/adopt-by': 'by-hand' };
    await up.client.patch(Tenant, { name: 'by-hand' }, { type: 'merge', body: { metadata: { annotations } } });
    await attempt('thief', { virtual: { clusterPath: 'by-hand' }, deletionPolicy: 'Destroy' }, 'ClusterPathConflict');
    assert.ok(await find(up.client, Tenant, { name: 'by-hand' }));
  });

  test('does not get the host name of another control plane', async () => {
    await attempt('thief', { endpointPolicy: { hostname: bankHost } }, 'HostnameRejected');
    await attempt('bank-x', { endpointPolicy: { hostnameTemplate: bankHost } }, 'HostnameRejected');
  });

  for (const [whose, host] of [
    ['the one by which everybody reaches the platform', platformHost],
    ['the machine’s', hostname().toLowerCase()],
    ['localhost', 'localhost'],
    ['the one that pods use', 'kubernetes.default.svc'],
  ] as const) {
    test(`does not get a host name of the platform itself: ${whose}`, async () => {
      await attempt('thief', { endpointPolicy: { hostname: host } }, 'HostnameRejected');
    });
  }

  test('does not get the name by which everybody reaches a Hangar that does not know it: the operator does', async () => {
    await using platform = await startTestPlatform({ externalUrl: `https://${platformHost}` });
    platform.start();
    const endpointPolicy = { hostname: platformHost };
    await platform.client.create(ControlPlane, { metadata: { name: 'thief' }, spec: { endpointPolicy } });
    await untilReason(platform.client, 'thief', 'HostnameRejected');
    assert.equal(await find(platform.client, Tenant, { name: 'thief' }), undefined);
  });

  test('does not get anything by naming the endpoint of another', async () => {
    await attempt('thief', { endpointRef: { name: 'bank' } }, 'HostnameRejected');
  });

  test('cannot make a name whose management namespace is another’s', async () => {
    await up.create('bank.branch', { virtual: { clusterPath: 'branch' }, deletionPolicy: 'Destroy' });
    const namespace = managementNamespace('bank.branch');
    const { items: before } = await up.client.list(Secret, { namespace });
    const name = namespace.replace('kplane-cp-', '');
    assert.equal(managementNamespace(name), namespace);
    await attempt(name, { virtual: { clusterPath: 'other-branch' } }, 'NamespaceConflict');
    assert.deepEqual((await up.client.list(Secret, { namespace })).items, before);
  });

  test('is not heard about the status of what they create', async () => {
    const status = {
      kubeconfigSecretRef: { namespace: 'kplane-cp-bank', name: 'controlplane-bank-kubeconfig' },
      phase: 'Ready',
    };
    const made = await mallory.create(ControlPlane, { metadata: { name: 'boaster' }, spec: {}, status } as never);
    assert.equal(made.status?.kubeconfigSecretRef, undefined);
    const ready = await untilReady(mallory, 'boaster');
    assert.equal(ready.status!.kubeconfigSecretRef!.namespace, 'kplane-cp-boaster');
  });
});

describe('who may write registrations and endpoints', () => {
  const register = async (name: string, spec: ControlPlaneRegistrationSpec, more: object = {}) => {
    await registrar.create(ControlPlaneRegistration, { metadata: { name }, spec, ...more });
    const seen = await until(
      registrar,
      ControlPlaneRegistration,
      name,
      (one) => findCondition(one?.status?.conditions, 'Ready') !== undefined,
    );
    return seen!.status!;
  };

  test('learns nothing about Secrets that they may not read: neither what is in them nor that they are there', async () => {
    await up.create('plain');
    const namespace = 'strangers';
    await up.client.create(Namespace, { metadata: { name: namespace } });
    const kubeconfig = await up.kubeconfig('bank');
    const contents: Record<string, Record<string, string>> = {
      password: { password: treasure },
      broken: { kubeconfig: `${treasure}: [` },
      text: { kubeconfig: treasure },
      another: { kubeconfig },
    };
    for (const [name, stringData] of Object.entries(contents)) {
      await up.client.create(Secret, { metadata: { namespace, name }, stringData });
    }
    const told = new Set<string>();
    const names = [...Object.keys(contents), 'absent'];
    for (const name of names) {
      await register(`spy-${name}`, { controlPlaneRef: { name: 'plain' }, kubeconfigSecretRef: { namespace, name } });
    }
    // All outcomes are written by now: a later object was reconciled.
    await until(
      registrar,
      ControlPlaneRegistration,
      'spy-absent',
      (one) => !/not known yet/.test(JSON.stringify(one?.status)),
    );
    await up.settled();
    for (const name of names) {
      const { status } = await registrar.get(ControlPlaneRegistration, { name: `spy-${name}` });
      const { status: is, reason, message } = findCondition(status!.conditions, 'Ready')!;
      told.add(`${is} ${reason} ${message.replaceAll(name, 'X')}`);
      assert.ok(!JSON.stringify(status).includes(treasure));
      assert.equal(status!.resolvedKubeconfigSecretRef, undefined);
    }
    assert.equal(told.size, 1, [...told].join('\n'));
    await nothingWasCopied(namespace);
  });

  /** Neither the treasure nor the bank's credentials were copied. */
  async function nothingWasCopied(...except: readonly string[]): Promise<void> {
    const { credentials } = await configOfKubeconfig(await up.kubeconfig('bank'));
    const { key } = (await credentials!.clientCertificate!())!;
    const secrets = [treasure, Buffer.from(key).toString('base64')];
    const { items } = await up.client.list(Secret);
    for (const { metadata, data = {} } of items) {
      if ([...except, 'kplane-cp-bank'].includes(metadata.namespace!)) continue;
      for (const value of Object.values(data)) {
        const text = Buffer.from(value, 'base64').toString();
        assert.ok(!secrets.some((one) => text.includes(one)), `it is in namespace ${metadata.namespace}`);
      }
    }
  }

  test('cannot have the credentials of one control plane used, or copied, for another', async () => {
    await registrar.create(ControlPlaneEndpoint, {
      metadata: { name: 'looks-like-bank' },
      spec: { endpoint: `${up.url}/clusters/bank/control-plane` },
    });
    const kubeconfigSecretRef = { namespace: 'kplane-cp-bank', name: 'controlplane-bank-kubeconfig' };
    const status = await register('deputy', {
      controlPlaneRef: { name: 'plain' },
      endpointRef: { name: 'looks-like-bank' },
      kubeconfigSecretRef,
    });
    await up.settled();
    assert.equal(status.ready, false);
    assert.equal((await registrar.get(ControlPlaneRegistration, { name: 'deputy' })).status!.ready, false);
    await nothingWasCopied('strangers');
    await isUntouched();
  });

  test('an endpoint with the address of another server leads services to a server that they do not trust', async () => {
    await registrar.create(ControlPlaneEndpoint, {
      metadata: { name: 'evil' },
      spec: { endpoint: 'https://evil.example' },
    });
    await register('detour', { controlPlaneRef: { name: 'bank' }, endpointRef: { name: 'evil' } });
    const { status } = (await until(
      registrar,
      ControlPlaneRegistration,
      'detour',
      (one) => one?.status?.ready === true,
    ))!;
    // Beside the original, where this user has no access.
    assert.equal(status!.resolvedKubeconfigSecretRef!.namespace, 'kplane-cp-bank');
    await assert.rejects(registrar.get(Secret, status!.resolvedKubeconfigSecretRef!), isRefused);
    const [detour, original] = await Promise.all(
      [status!.resolvedKubeconfigSecretRef, undefined].map(async (reference) =>
        configOfKubeconfig(await up.kubeconfig('bank', reference)),
      ),
    );
    assert.equal(detour!.server, 'https://evil.example/clusters/bank/control-plane');
    assert.deepEqual(
      [detour!.ca, detour!.isInsecure, detour!.serverName, detour!.proxyUrl],
      [original!.ca, original!.isInsecure, undefined, undefined],
    );
    await registrar.delete(ControlPlaneRegistration, { name: 'detour' });
    await until(
      up.client,
      Secret,
      status!.resolvedKubeconfigSecretRef!.name,
      (one) => one === undefined,
      'kplane-cp-bank',
    );
    await isUntouched();
  });

  test('does not take a control plane’s controllers away by a status that is not theirs to write', async () => {
    const condition = {
      type: 'ControllersReady',
      status: 'True',
      reason: 'X',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await register(
      'usurper',
      { controlPlaneRef: { name: 'bank' }, services: ['controllers'] },
      { status: { conditions: [condition] } },
    );
    await up.settled();
    await isUntouched();
    const body = { status: { conditions: [condition] } };
    await assert.rejects(
      registrar.status.patch(ControlPlaneRegistration, { name: 'usurper' }, { type: 'merge', body }),
      isRefused,
    );
  });

  test('who has taken a name for an endpoint delays a control plane of that name, and is given nothing', async () => {
    await registrar.create(ControlPlaneEndpoint, {
      metadata: { name: 'awaited' },
      spec: { endpoint: 'https://evil.example' },
    });
    await up.client.create(ControlPlane, { metadata: { name: 'awaited' }, spec: {} });
    await untilReason(up.client, 'awaited', 'EndpointPending');
    assert.equal(await find(up.client, Tenant, { name: 'awaited' }), undefined);
    assert.deepEqual((await up.client.list(Secret, { namespace: 'kplane-cp-awaited' })).items, []);
    await registrar.delete(ControlPlaneEndpoint, { name: 'awaited' });
    await untilReady(up.client, 'awaited');
  });
});

describe('who may write statuses of endpoints', () => {
  test('is corrected if the platform is the provider, and never decides which CA is trusted', async () => {
    const before = (await up.client.get(ControlPlaneEndpoint, { name: 'bank' })).status!;
    const { ca } = await configOfKubeconfig(await up.kubeconfig('bank'));
    const body = { status: { endpoint: 'https://evil.example', externalEndpoint: `https://${platformHost}` } };
    await provider.status.patch(ControlPlaneEndpoint, { name: 'bank' }, { type: 'merge', body });
    await until(
      up.client,
      ControlPlaneEndpoint,
      'bank',
      (one) => one?.status?.endpoint === before.endpoint && one?.status?.externalEndpoint === before.externalEndpoint,
    );
    await untilReady(up.client, 'bank');
    const again = await until(
      up.client,
      Secret,
      'controlplane-bank-kubeconfig',
      (one) =>
        Buffer.from(one?.data?.['kubeconfig'] ?? '', 'base64')
          .toString()
          .includes(`server: ${before.endpoint}`),
      'kplane-cp-bank',
    );
    assert.equal((await configOfKubeconfig(Buffer.from(again!.data!['kubeconfig']!, 'base64').toString())).ca, ca);
    await up.settled();
    assert.deepEqual((await up.client.get(Tenant, { name: 'bank' })).spec?.hosts, [bankHost]);
  });
});
