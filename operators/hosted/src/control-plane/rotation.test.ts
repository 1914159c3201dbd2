/** Authorities and the key of service accounts are rotated in three steps, and each step waits for the roll-out of the previous one. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import { findCondition } from '@hangar/runtime';
import { clusterNameLabel, clusterSecretType, HostedControlPlane, rotateAnnotation } from '../api/index.ts';
import type { HostedControlPlaneSpec } from '../api/index.ts';
import { base64, textIn } from '../pki/secrets.ts';
import type { SignerName } from '../pki/signer.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { ShiftedClock } from '../testing/shifted-clock.ts';
import { until, untilObject, untilReady, untilReason } from '../testing/until.ts';

const bundle = 'demo-ca-bundle';
const pemsIn = (text = ''): string[] => text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n/g) ?? [];

async function created(
  platform: TestPlatform,
  spec: Partial<HostedControlPlaneSpec> = { certificates: { overlapDuration: '0s' } },
): Promise<ReturnType<TestPlatform['start']>> {
  const operator = platform.start();
  await platform.client.create(HostedControlPlane, {
    metadata: { namespace, name: 'demo' },
    spec: { version: 'v1.36.4', replicas: 1, ...spec },
  });
  await untilReady(platform.client);
  return operator;
}

const secretText = async (client: Client, name: string, key = 'tls.crt'): Promise<string> =>
  textIn(await client.get(Secret, { namespace, name }), key);

function rotate(client: Client, ...names: readonly SignerName[]): Promise<unknown> {
  const annotations = Object.fromEntries(names.map((name) => [rotateAnnotation(name), 'now']));
  const body = { metadata: { annotations } };
  return client.patch(HostedControlPlane, { namespace, name: 'demo' }, { type: 'merge', body });
}

/** Collects the trusted certificates of the bundle, one entry for each change, until `isLast` holds. */
async function trustedUntil(client: Client, key: string, isLast: (pems: readonly string[]) => boolean) {
  const seen: string[][] = [];
  await untilObject(client, ConfigMap, bundle, ({ data }) => {
    const pems = pemsIn(data?.[key]);
    if (JSON.stringify(pems) !== JSON.stringify(seen.at(-1))) seen.push(pems);
    return isLast(pems);
  });
  return seen;
}

const generations = async (client: Client): Promise<Record<string, number>> => {
  const all = [
    ...(await client.list(Deployment, { namespace })).items,
    ...(await client.list(StatefulSet, { namespace })).items,
  ];
  return Object.fromEntries(all.map(({ metadata }) => [metadata.name!.slice('demo-'.length), metadata.generation!]));
};

describe('an annotation', () => {
  test('rotates the authority of the control plane in three steps', async () => {
    await using platform = await startTestPlatform();
    const { client, inside } = platform;
    await created(platform);
    const [before, old] = [await generations(client), await secretText(client, 'demo-ca')];
    const watching = Promise.withResolvers<void>();
    const steps = trustedUntil(client, 'ca.crt', (pems) => {
      watching.resolve();
      return pems.length === 1 && pems[0] !== old;
    });
    await watching.promise;
    await rotate(client, 'ca');
    const seen = await steps;
    const now = await secretText(client, 'demo-ca');
    assert.deepEqual(seen, [[old], [old, now], [now, old], [now]]);
    await until(client, 'demo', ({ status }) => findCondition(status?.conditions, 'Ready')?.status === 'True');
    await platform.quiet();
    const { items } = await client.list(Secret, { namespace });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name).filter((name) => /-(next|previous)$/.test(name!)),
      [],
    );
    for (const name of ['apiserver', 'apiserver-kubelet-client', 'controller-manager', 'scheduler']) {
      const [leaf, ...chain] = pemsIn(await secretText(client, `demo-${name}`));
      assert.ok(new X509Certificate(leaf!).verify(new X509Certificate(now).publicKey), name);
      assert.deepEqual(chain, [], name);
    }
    const kubeconfig = await secretText(client, 'demo-kubeconfig', 'value');
    assert.ok(kubeconfig.includes(`certificate-authority-data: ${base64(now)}`));
    const { data } = await inside.get(ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
    assert.ok(data!['kubeconfig']!.includes(base64(now)));
    const after = await generations(client);
    const rolled = Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - before[name]!]));
    // kube-apiserver reads the authorities of clients again: it does not restart when one is dropped.
    assert.deepEqual(rolled, { apiserver: 2, 'controller-manager': 3, scheduler: 3, etcd: 0 });
  });

  test('does not start the next step before the roll-out is complete', async () => {
    await using platform = await startTestPlatform();
    const { client, workloads } = platform;
    await created(platform);
    const old = await secretText(client, 'demo-ca');
    workloads.holdBack = /demo-scheduler/;
    await rotate(client, 'ca');
    const { status } = await untilReason(client, 'CertificatesRotating', 'Rotating');
    assert.match(
      findCondition(status!.conditions, 'CertificatesRotating')!.message,
      /trust the next pair of Secret "team\/demo-ca"/,
    );
    await untilObject(client, Deployment, 'demo-scheduler', ({ metadata }) => metadata.generation === 2);
    await platform.quiet();
    assert.equal(await secretText(client, 'demo-ca'), old);
    workloads.holdBack = undefined;
    await workloads.refresh();
    await trustedUntil(client, 'ca.crt', (pems) => pems.length === 1 && pems[0] !== old);
    await untilReason(client, 'CertificatesRotating', 'NotRotating');
  });

  test('that exists when the control plane is created does not rotate', async () => {
    await using platform = await startTestPlatform();
    const { client } = platform;
    platform.start();
    const annotations = { [rotateAnnotation('ca')]: 'first' };
    await client.create(HostedControlPlane, {
      metadata: { namespace, name: 'demo', annotations },
      spec: { version: 'v1.36.4', replicas: 1 },
    });
    await untilReady(client);
    await platform.quiet();
    const { data } = await client.get(ConfigMap, { namespace, name: bundle });
    assert.equal(pemsIn(data!['ca.crt']).length, 1);
  });

  test('rotates the other pairs at once, and keeps the previous key of service accounts for a year', async () => {
    const clock = new ShiftedClock();
    await using platform = await startTestPlatform({ clock });
    const { client } = platform;
    const operator = await created(platform, {});
    const names = ['etcd', 'proxy', 'sa'] as const;
    const old = await Promise.all(names.map((name) => secretText(client, `demo-${name}`)));
    await rotate(client, ...names);
    await untilReason(client, 'CertificatesRotating', 'Overlapping');
    const read = async (key: string) => pemsIn((await client.get(ConfigMap, { namespace, name: bundle })).data![key]);
    const current = await Promise.all(names.map((name) => secretText(client, `demo-${name}`)));
    for (const [at, name] of names.entries()) assert.notEqual(current[at], old[at], name);
    await trustedUntil(client, 'etcd-ca.crt', (pems) => pems.length === 1);
    await trustedUntil(client, 'front-proxy-ca.crt', (pems) => pems.length === 1);
    assert.deepEqual(await read('sa.pub'), [current[2], old[2]]);
    await operator.stop();
    clock.aheadDays = 366;
    platform.start();
    assert.deepEqual((await trustedUntil(client, 'sa.pub', (pems) => pems.length === 1)).at(-1), [current[2]]);
  });
});

test('authorities have the lifetimes of the spec, also after a rotation', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  const durations = { rootCaCertificateDuration: '96h', caCertificateDuration: '48h' };
  await created(platform, { certificates: { ...durations, overlapDuration: '0s' } });
  const hoursOf = async (name: string): Promise<number> => {
    const { validTo } = new X509Certificate(await secretText(client, name));
    return Math.round((Date.parse(validTo) - Date.now()) / 3_600_000);
  };
  const all = () => Promise.all(['demo-ca', 'demo-etcd', 'demo-proxy'].map(hoursOf));
  assert.deepEqual(await all(), [96, 48, 48]);
  const old = await secretText(client, 'demo-proxy');
  await rotate(client, 'proxy');
  await trustedUntil(client, 'front-proxy-ca.crt', (pems) => pems.length === 1 && pems[0] !== old);
  assert.deepEqual(await all(), [96, 48, 48]);
});

test('an authority is rotated before it expires, unless a user supplied it', async () => {
  const clock = new ShiftedClock();
  await using platform = await startTestPlatform({ clock });
  const { client } = platform;
  const world = { clock: systemClock, random: systemRandom };
  const { certificate, key } = createAuthority('mine', 3650, world);
  await client.create(Secret, {
    metadata: { namespace, name: 'demo-proxy', labels: { [clusterNameLabel]: 'demo' } },
    type: clusterSecretType,
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
  });
  const operator = await created(platform);
  const old = await secretText(client, 'demo-ca');
  await operator.stop();
  clock.aheadDays = Math.ceil(3650 * 0.8) + 1;
  platform.start();
  await trustedUntil(client, 'ca.crt', (pems) => pems.length === 1 && pems[0] !== old);
  await untilReady(client);
  assert.equal(await secretText(client, 'demo-proxy'), certificate);
});

describe('a Secret with the next authority', () => {
  const next = (data: Record<string, string>) => ({
    metadata: { namespace, name: 'demo-ca-next', labels: { [clusterNameLabel]: 'demo' } },
    type: clusterSecretType,
    data,
  });
  const supplied = createAuthority('mine', 3650, { clock: systemClock, random: systemRandom });
  const pair = { 'tls.crt': base64(supplied.certificate), 'tls.key': base64(supplied.key) };
  /** Secrets of users are not watched: a change of the object starts a pass at once. */
  const touch = (client: Client, value: string) =>
    client.patch(
      HostedControlPlane,
      { namespace, name: 'demo' },
      { type: 'merge', body: { metadata: { labels: { touched: value } } } },
    );

  test('is used as it is', async () => {
    await using platform = await startTestPlatform();
    const { client } = platform;
    await created(platform);
    await client.create(Secret, next(pair));
    await touch(client, 'a');
    await trustedUntil(client, 'ca.crt', (pems) => pems.length === 1 && pems[0] === supplied.certificate);
    await untilReady(client);
  });

  test('that is not valid is a fault, and the current authority stays in use', async () => {
    await using platform = await startTestPlatform();
    const { client } = platform;
    await created(platform);
    const old = await secretText(client, 'demo-ca');
    await client.create(Secret, next({ 'tls.crt': pair['tls.crt'] }));
    await touch(client, 'a');
    const { status } = await untilReason(client, 'CACertificatesReady', 'MissingCAKey');
    assert.match(findCondition(status!.conditions, 'Ready')!.message, /demo-ca-next/);
    assert.equal(findCondition(status!.conditions, 'Available')!.status, 'True');
    assert.equal(await secretText(client, 'demo-ca'), old);
    await client.delete(Secret, { namespace, name: 'demo-ca-next' });
    await touch(client, 'b');
    await untilReady(client);
    assert.equal(await secretText(client, 'demo-ca'), old);
  });
});
