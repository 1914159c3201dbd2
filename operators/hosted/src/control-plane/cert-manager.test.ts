/** Certificates of cert-manager, with a double of its controller. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition, isControlledBy } from '@hangar/runtime';
import { HostedControlPlane, rotateAnnotation } from '../api/index.ts';
import { Certificate, Issuer } from '../cert-manager/kinds.ts';
import { textIn } from '../pki/secrets.ts';
import { certManagerDouble, installCertManager } from '../testing/cert-manager-double.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import { untilObject, untilReady, untilReason } from '../testing/until.ts';

const key = { namespace, name: 'demo' };
const spec = { version: 'v1.36.4', replicas: 1, certificates: { overlapDuration: '0s', caCertificateDuration: '48h' } };

test('cert-manager issues the certificates, and again after a rotation of their authority', async () => {
  await using platform = await startTestPlatform({ certManager: 'default' });
  const { client } = platform;
  await installCertManager(client);
  platform.start();
  const plane = await client.create(HostedControlPlane, { metadata: { ...key }, spec });
  const waiting = await untilReason(client, 'CertificatesReady', 'WaitingForCertManager');
  assert.match(
    findCondition(waiting.status!.conditions, 'Ready')!.message,
    /Certificate "team\/demo-apiserver" is not ready: cert-manager has not processed it yet, and 7 more/,
  );
  const { spec: serving } = await client.get(Certificate, { namespace, name: 'demo-apiserver' });
  assert.ok(serving.dnsNames!.includes('kubernetes.default.svc') && serving.ipAddresses!.includes('127.0.0.1'));
  assert.deepEqual(serving.usages, ['digital signature', 'server auth']);
  assert.equal(serving.duration, '8760h');
  const { spec: member } = await client.get(Certificate, { namespace, name: 'demo-etcd-server' });
  assert.equal(member.duration, '48h', 'not longer than that of the authority');
  await using opened = new AsyncDisposableStack();
  opened.use(certManagerDouble(client));
  await untilReady(client);
  const old = textIn(await client.get(Secret, { namespace, name: 'demo-ca' }), 'tls.crt');
  const names = (await client.list(Certificate, { namespace })).items.map(({ metadata }) => metadata.name!);
  assert.equal(names.length, 8);
  for (const name of names) {
    const secret = await client.get(Secret, { namespace, name });
    assert.ok(isControlledBy(secret, plane), `${name} is deleted with the control plane`);
  }
  const body = { metadata: { annotations: { [rotateAnnotation('ca')]: 'now' } } };
  await client.patch(HostedControlPlane, key, { type: 'merge', body });
  const { data } = await untilObject(client, ConfigMap, 'demo-ca-bundle', ({ data: now }) => {
    const text = now!['ca.crt']!;
    return text.match(/BEGIN/g)!.length === 1 && text !== old;
  });
  await untilReady(client);
  await platform.quiet();
  const leaf = new X509Certificate(textIn(await client.get(Secret, { namespace, name: 'demo-apiserver' }), 'tls.crt'));
  assert.ok(leaf.verify(new X509Certificate(data!['ca.crt']!).publicKey));
  assert.equal(
    (await client.list(Issuer, { namespace })).items.length,
    3,
    'issuers of dropped authorities are deleted',
  );
  platform.forget();
  await client.patch(HostedControlPlane, key, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
  await platform.quiet();
  assert.deepEqual(platform.requests, []);
});

test('a control plane that requires cert-manager waits for it', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  platform.start();
  await client.create(HostedControlPlane, {
    metadata: { ...key },
    spec: { ...spec, certificates: { issuer: 'CertManager' } },
  });
  await untilReason(client, 'CertificatesReady', 'CertManagerMissing');
});

test('a control plane without an issuer uses the built-in one, unless the operator has another default', async () => {
  await using platform = await startTestPlatform({ certManager: 'on-request' });
  const { client } = platform;
  await installCertManager(client);
  platform.start();
  await client.create(HostedControlPlane, { metadata: { ...key }, spec });
  await untilReady(client);
  assert.deepEqual((await client.list(Certificate, { namespace })).items, []);
});
