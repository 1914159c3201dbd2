import assert from 'node:assert/strict';
import { hash, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createAuthority } from '@hangar/pki';
import { showing, TestPort, world } from '../../http/testing/test-port.ts';
import { advertisedTenantAuthority, tenantAuthorityName } from './advertised-authority.ts';
import { client } from './testing.ts';

const advertised = new X509Certificate(advertisedTenantAuthority);

test('it has the very name of the CAs of tenants', () => {
  const made = new X509Certificate(createAuthority(tenantAuthorityName, 1, world).certificate);
  assert.equal(advertised.subject, made.subject);
  // Clients compare bytes.
  const encoded = Buffer.concat([Buffer.of(0x0c, tenantAuthorityName.length), Buffer.from(tenantAuthorityName)]);
  assert.ok(advertised.raw.includes(encoded) && made.raw.includes(encoded));
});

test('its private key is unknown: the public key is the hash of a text', () => {
  const { x } = advertised.publicKey.export({ format: 'jwk' });
  assert.equal(x, hash('sha256', 'hangar: a name and no authority 3', 'base64url'));
});

test('it verifies nothing: its time is over, it is no CA, and what it says is not signed', () => {
  assert.equal(advertised.validToDate.getTime(), 0);
  assert.equal(advertised.ca, false);
  assert.equal(advertised.verify(advertised.publicKey), false);
});

test('a port that advertises it takes certificates of this name for what they are', async () => {
  const users = createAuthority('users', 1, world);
  await using port = await TestPort.open(
    async ({ peer }) => ({ status: 200, headers: {}, body: Buffer.from(peer.certificate?.commonName ?? 'anonymous') }),
    { clientCas: users.certificate, advertisedCas: advertisedTenantAuthority },
  );
  const namesake = createAuthority(tenantAuthorityName, 1, world);
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    assert.equal((await port.ask({ maxVersion, ...showing(client(users)) })).body, 'admin');
    assert.equal((await port.ask({ maxVersion, ...showing(client(namesake)) })).body, 'anonymous');
    // Names the advertised CA and its key identifier, and is sent together with it. Node can close a connection with a wrong signature.
    const forged = client({ certificate: advertisedTenantAuthority, key: namesake.key });
    const { body } = await port.ask({ maxVersion, ...showing(forged, advertisedTenantAuthority) });
    assert.ok(body === 'anonymous' || body === '', body);
    assert.equal((await port.ask({ maxVersion, ...showing(client(users)) })).body, 'admin');
  }
});
