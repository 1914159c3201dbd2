import assert from 'node:assert/strict';
import crypto, { createPrivateKey, X509Certificate } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate, pooled } from './index.ts';

const world = { clock: systemClock, random: systemRandom };
const request = { commonName: 'admin', organizations: ['a'], usage: 'client', days: 1 } as const;

test('a certificate from the thread pool is signed by its authority and belongs to its key', async () => {
  const authority = await pooled.createAuthority('the authority', 10, world);
  const ca = new X509Certificate(authority.certificate);
  assert.ok(ca.ca && ca.verify(ca.publicKey) && ca.checkPrivateKey(createPrivateKey(authority.key)));
  for (const issued of [
    await pooled.issueCertificate(authority, request, world),
    issueCertificate(authority, request, world),
  ]) {
    const certificate = new X509Certificate(issued.certificate);
    assert.ok(certificate.checkIssued(ca) && certificate.verify(ca.publicKey));
    assert.ok(certificate.checkPrivateKey(createPrivateKey(issued.key)));
    assert.equal(certificate.subject, 'O=a\nCN=admin');
  }
});

test('no key is generated on the event loop', async (context) => {
  const generate = context.mock.method(crypto, 'generateKeyPairSync');
  syncBuiltinESMExports();
  try {
    const authority = await pooled.createAuthority('the authority', 10, world);
    await pooled.issueCertificate(authority, request, world);
    assert.match(await pooled.newPrivateKey(), /^-----BEGIN PRIVATE KEY-----\n/);
    assert.equal(generate.mock.callCount(), 0);
    issueCertificate(authority, request, world);
    assert.equal(generate.mock.callCount(), 1, 'the count works');
  } finally {
    generate.mock.restore();
    syncBuiltinESMExports();
  }
});
