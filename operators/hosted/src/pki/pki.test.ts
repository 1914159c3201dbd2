import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { Secret } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { annotations, clusterSecretType } from '../api/index.ts';
import { isFault } from '../fault.ts';
import type { CertificateWish } from '../render/index.ts';
import { adminKubeconfig, isKubeconfigCurrent, kubeconfigDigest, kubeconfigRenewsAtMs } from './admin-kubeconfig.ts';
import { authorityIn } from './authorities.ts';
import { isCurrent, issued, requestDigest } from './certificates.ts';
import { base64, textIn } from './secrets.ts';
import { signerOf } from './signer.ts';
import { newServiceAccountKey, serviceAccountKeyIn } from './service-account-key.ts';

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 0, 1);
const world = { clock: { ...systemClock, now: () => nowMs }, random: systemRandom };
const newSigner = (days = 3650) => signerOf(createAuthority('kubernetes', days, world), undefined, undefined);
const authority = newSigner();
const other = newSigner();

const secretOf = (data: Record<string, string>, type = clusterSecretType, request = ''): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'team', name: 'demo-ca', annotations: { [annotations.request]: request } },
  type,
  data,
});
const dataOf = ({ certificate, key }: KeyPair) => ({ 'tls.crt': base64(certificate), 'tls.key': base64(key) });

test('an authority of a user is used, with either type of Secret', () => {
  for (const type of [clusterSecretType, 'kubernetes.io/tls']) {
    const { certificate, key } = authority;
    assert.deepEqual(authorityIn(secretOf(dataOf(authority), type), nowMs), { certificate, key });
  }
});

const leaf = issueCertificate(authority, { commonName: 'a', usage: 'client', days: 1 }, world);
const faults: [title: string, secret: Secret, reason: string, message: RegExp][] = [
  [
    'another type',
    secretOf(dataOf(authority), 'Opaque'),
    'WrongSecretType',
    /has type Opaque.*cluster\.x-k8s\.io\/secret/,
  ],
  [
    'no key',
    secretOf({ 'tls.crt': base64(authority.certificate) }),
    'MissingCAKey',
    /"team\/demo-ca" has no key tls\.key/,
  ],
  ['no certificate', secretOf({ 'tls.key': base64(authority.key) }), 'MissingCACertificate', /has no key tls\.crt/],
  [
    'the key of another authority',
    secretOf(dataOf({ ...authority, key: other.key })),
    'InvalidCA',
    /not the key of tls\.crt/,
  ],
  ['a certificate that is not an authority', secretOf(dataOf(leaf)), 'InvalidCA', /CA:TRUE/],
  ['garbage', secretOf({ 'tls.crt': base64('x'), 'tls.key': base64('y') }), 'InvalidCA', /is not valid/],
];
for (const [title, secret, expected, message] of faults) {
  test(`an authority with ${title} is a fault that names it`, () => {
    const fault = authorityIn(secret, nowMs);
    assert.ok(isFault(fault));
    assert.equal(fault.reason, expected);
    assert.match(fault.message, message);
  });
}

test('an authority that expired is a fault', () => {
  const fault = authorityIn(secretOf(dataOf(authority)), nowMs + 3651 * dayMs);
  assert.ok(isFault(fault));
  assert.equal(fault.reason, 'CAExpired');
});

const wish: CertificateWish = {
  secret: 'demo-apiserver',
  authority: 'ca',
  commonName: 'kube-apiserver',
  usage: 'server',
  hosts: ['demo.example.com'],
};

test('a certificate is current until two thirds of its lifetime, its request or its authority change', async () => {
  const digest = requestDigest(wish, authority);
  const data = await issued(wish, authority, world);
  const secret = secretOf(data, 'kubernetes.io/tls', digest);
  const at = (now: number) => isCurrent(secret, { digest, authority, nowMs: now });
  assert.equal(at(nowMs), true);
  assert.equal(at(nowMs + 240 * dayMs), true);
  assert.equal(at(nowMs + 244 * dayMs), false);
  const changed = requestDigest({ ...wish, hosts: ['b.example.com'] }, authority);
  assert.equal(isCurrent(secret, { digest: changed, authority, nowMs }), false);
  assert.equal(isCurrent(secret, { digest: requestDigest(wish, other), authority: other, nowMs }), false);
  const forged = secretOf(await issued(wish, other, world), 'kubernetes.io/tls', digest);
  assert.equal(isCurrent(forged, { digest, authority, nowMs }), false, 'of another authority');
});

test('a certificate does not outlive its authority', async () => {
  const short = newSigner(10);
  const data = await issued(wish, short, world);
  const until = new X509Certificate(Buffer.from(data['tls.crt']!, 'base64')).validTo;
  assert.equal(until, new X509Certificate(short.certificate).validTo);
});

test('the kubeconfig of the administrator is renewed before its certificate expires', async () => {
  const request = { name: 'demo', server: 'https://demo.example.com:6443' };
  const digest = kubeconfigDigest(request, authority);
  const secret = secretOf(await adminKubeconfig(request, authority, world), clusterSecretType, digest);
  assert.match(textIn(secret, 'value'), /server: https:\/\/demo\.example\.com:6443/);
  assert.ok(Math.abs(kubeconfigRenewsAtMs(secret) - (nowMs + 20 * dayMs)) < dayMs);
  assert.equal(isKubeconfigCurrent(secret, digest, nowMs), true);
  assert.equal(isKubeconfigCurrent(secret, digest, nowMs + 21 * dayMs), false);
  assert.equal(
    isKubeconfigCurrent(secret, kubeconfigDigest({ ...request, server: 'https://b' }, authority), nowMs),
    false,
  );
});

test('the key of service accounts is checked', async () => {
  const [data, more] = [await newServiceAccountKey(), await newServiceAccountKey()];
  const pair = { certificate: textIn(secretOf(data), 'tls.crt'), key: textIn(secretOf(data), 'tls.key') };
  assert.deepEqual(serviceAccountKeyIn(secretOf(data)), pair);
  const reasonOf = (secret: Secret): string | undefined => {
    const found = serviceAccountKeyIn(secret);
    return isFault(found) ? found.reason : undefined;
  };
  assert.equal(reasonOf(secretOf({ ...data, 'tls.crt': more['tls.crt']! })), 'InvalidServiceAccountKey');
  assert.equal(reasonOf(secretOf({ 'tls.crt': data['tls.crt']! })), 'MissingServiceAccountKey');
  assert.equal(reasonOf(secretOf(data, 'Opaque')), 'WrongSecretType');
});
