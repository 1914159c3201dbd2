/** Authorities that other programs created: RSA keys, other curves, other key identifiers. */

import assert from 'node:assert/strict';
import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { test } from 'node:test';
import { hasCode, systemClock, systemRandom } from '@hangar/core';
import { critical, extension, identifiers, issuerOf, signedCertificate, unsignedAuthority } from './certificates.ts';
import { boolean, octets, sequence } from './der.ts';
import { createAuthority, crossCertificate, issueCertificate, pooled } from './index.ts';
import type { KeyPair } from './index.ts';

const world = { clock: systemClock, random: systemRandom };
const request = { commonName: 's', usage: 'server' as const, hosts: ['localhost'], days: 1 };

function authorityWith({ privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject }): KeyPair {
  const keys = {
    spki: publicKey.export({ type: 'spki', format: 'der' }),
    pkcs8: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    privateKey,
  };
  const { body, issuerKey, signed } = unsignedAuthority(keys, 'foreign', 10, world);
  return signed(sign('sha256', body, issuerKey));
}

/** An authority whose key identifier is not the SHA-1 of its key, as Go computes it. */
function authorityWithIdentifier(identifier: Buffer): KeyPair {
  const own = createAuthority('foreign', 10, world);
  const { name: subject, key } = issuerOf(own);
  const { raw } = new X509Certificate(own.certificate);
  const spki = new X509Certificate(raw).publicKey.export({ type: 'spki', format: 'der' });
  const certificate = signedCertificate({
    issuer: { name: subject, key },
    subject,
    spki,
    validity: { notBeforeMs: Date.now() - 1_000, notAfterMs: Date.now() + 86_400_000 },
    extensions: [
      critical(identifiers.basicConstraints, sequence(boolean(true))),
      extension(identifiers.subjectKeyIdentifier, octets(identifier)),
    ],
    random: systemRandom,
  });
  return { certificate, key: own.key };
}

const foreign: [title: string, authority: () => KeyPair][] = [
  ['an RSA key', () => authorityWith(generateKeyPairSync('rsa', { modulusLength: 2048 }))],
  ['a key on P-384', () => authorityWith(generateKeyPairSync('ec', { namedCurve: 'P-384' }))],
  ['another key identifier', () => authorityWithIdentifier(Buffer.alloc(20, 7))],
];

/** Reports whether a client that trusts only `authority` accepts the server. */
async function isAccepted({ certificate, key }: KeyPair, authority: string): Promise<boolean> {
  const server = createServer({ cert: certificate, key }, (socket) => socket.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority });
  try {
    await once(socket, 'secureConnect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
    server.close();
  }
}

for (const [title, make] of foreign) {
  test(`a certificate of an authority with ${title} is accepted`, async () => {
    const authority = make();
    for (const leaf of [
      issueCertificate(authority, request, world),
      await pooled.issueCertificate({ ...authority }, request, world),
    ]) {
      const [certificate, issuer] = [new X509Certificate(leaf.certificate), new X509Certificate(authority.certificate)];
      assert.equal(certificate.checkIssued(issuer), true);
      assert.equal(await isAccepted(leaf, authority.certificate), true);
    }
  });

  test(`a cross certificate of an authority with ${title} leads to the certificates of the next authority`, async () => {
    const [authority, next] = [make(), createAuthority('foreign', 10, world)];
    const { certificate, key } = issueCertificate(next, request, world);
    const cross = crossCertificate(authority, next.certificate, world);
    const chain = { certificate: certificate + cross, key };
    assert.equal(await isAccepted(chain, authority.certificate), true, 'by clients of the previous authority');
    assert.equal(await isAccepted(chain, next.certificate), true, 'by clients of the next authority');
    assert.equal(await isAccepted({ certificate, key }, authority.certificate), false, 'without the cross certificate');
  });
}

test('a cross certificate expires with the earlier of both authorities', () => {
  const [long, short] = [createAuthority('a', 10, world), createAuthority('b', 2, world)];
  const until = new X509Certificate(short.certificate).validTo;
  assert.equal(new X509Certificate(crossCertificate(long, short.certificate, world)).validTo, until);
  assert.equal(new X509Certificate(crossCertificate(short, long.certificate, world)).validTo, until);
});

test('an authority with a key that cannot sign with SHA-256 is unusable', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const { certificate } = createAuthority('a', 1, world);
  assert.throws(
    () => issueCertificate({ certificate, key }, request, world),
    (error) => hasCode(error, 'AuthorityUnusable'),
  );
});
