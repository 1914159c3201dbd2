/** Certificates of tenants over real TLS: each authenticates in its own tenant only. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ConnectionOptions } from 'node:tls';
import { systemClock } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { CertificateAuthenticator } from '../../auth/authenticate.ts';
import type { User } from '../../auth/user.ts';
import type { Handler } from '../../http/message.ts';
import { showing, TestPort, world } from '../../http/testing/test-port.ts';
import { advertisedTenantAuthority, tenantAuthorityName } from './advertised-authority.ts';
import { TenantCertificateAuthenticator } from './certificate-authenticator.ts';
import { client, dayMs, later } from './testing.ts';

const ca = (name = tenantAuthorityName): KeyPair => createAuthority(name, 10, world);
const [root, a, b] = [ca('hangar-ca'), ca(), ca()];

type Known = Readonly<Record<'root' | 'a' | 'b', User | null>>;

/** Responds with the user that each control plane authenticates. */
function whoIs(rootCa = root): Handler {
  const authenticators = {
    root: new CertificateAuthenticator(systemClock, rootCa.certificate),
    a: new TenantCertificateAuthenticator(a.certificate, systemClock),
    b: new TenantCertificateAuthenticator(b.certificate, systemClock),
  };
  return async (request) => {
    const users = Object.entries(authenticators).map(([name, one]) => [name, one.authenticate(request) ?? null]);
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(Object.fromEntries(users))) };
  };
}

const openPort = (rootCa = root): Promise<TestPort> =>
  TestPort.open(whoIs(rootCa), { clientCas: rootCa.certificate, advertisedCas: advertisedTenantAuthority });

async function known(port: TestPort, options: ConnectionOptions): Promise<Known> {
  return JSON.parse((await port.ask(options)).body) as Known;
}

const names = ({ root: atRoot, a: inA, b: inB }: Known): (string | undefined)[] =>
  [atRoot, inA, inB].map((user) => user?.name);
const nobody = [undefined, undefined, undefined];

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  describe(maxVersion, () => {
    test('a certificate counts where its CA does, and nowhere else', async () => {
      await using port = await openPort();
      const ask = async (pair: KeyPair) => names(await known(port, { ...showing(pair), maxVersion }));
      assert.deepEqual(await ask(client(root)), ['admin', undefined, undefined]);
      assert.deepEqual(await ask(client(a)), [undefined, 'admin', undefined]);
      assert.deepEqual(await ask(client(b)), [undefined, undefined, 'admin']);
      assert.deepEqual(names(await known(port, { maxVersion })), nobody);
    });

    test('a resumed session has the certificate that it began with, whatever is shown now', async () => {
      await using port = await openPort();
      const first = await known(port, { ...showing(client(a)), maxVersion });
      const { session } = port;
      assert.ok(session);
      const shown = { ...showing(client(a, { commonName: 'other' })), maxVersion, session };
      assert.deepEqual(await known(port, shown), first);
      assert.ok(port.isReused, 'was not resumed');
      assert.deepEqual(names(first), [undefined, 'admin', undefined]);
    });
  });
}

test('the user is the common name, in its organizations, with its uid and the digest of the certificate', async () => {
  await using port = await openPort();
  const pair = client(a, { commonName: 'jane', organizations: ['x', 'y'], uid: 'u-1' });
  const digest = new X509Certificate(pair.certificate).fingerprint256.replaceAll(':', '').toLowerCase();
  assert.deepEqual((await known(port, showing(pair))).a, {
    name: 'jane',
    uid: 'u-1',
    groups: ['x', 'y', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] },
  });
});

describe('nobody anywhere is', () => {
  const user = client(a);
  /** Has the name of the CA, but is not the CA. */
  const namesake = client(a, { commonName: tenantAuthorityName, organizations: [] });
  const stranger = ca();
  const cases: Readonly<Record<string, ConnectionOptions>> = {
    'a certificate of another CA of the same name': showing(client(stranger), stranger.certificate),
    'one that names the CA and its key, signed with another key': showing(
      client({ certificate: a.certificate, key: stranger.key }),
      a.certificate,
    ),
    'one that its CA has signed in the name of another': showing(client({ certificate: root.certificate, key: a.key })),
    'one that a user of the tenant has signed': showing(client(user), user.certificate, a.certificate),
    'one that a user with the name of the CA has signed': showing(
      client(namesake),
      namesake.certificate,
      a.certificate,
    ),
    'one that such a user has signed in the name of the CA': showing(
      client({ certificate: a.certificate, key: namesake.key }),
      namesake.certificate,
      a.certificate,
    ),
    'one that has expired': showing(client(a, { days: 1 }, later(-3 * dayMs))),
    'one that is not valid yet': showing(client(a, { days: 5 }, later(dayMs))),
    'one of a server': showing(client(a, { usage: 'server' })),
    'one that signed itself': showing(createAuthority('admin', 1, world)),
    'one that signed itself, with a good one behind it': showing(
      createAuthority('admin', 1, world),
      user.certificate,
      a.certificate,
    ),
    'one of another CA, with a good one behind it': showing(client(stranger), user.certificate, a.certificate),
    'the CA itself': showing(a),
    'one without a name': showing(client(a, { commonName: '' })),
    'one of an intermediate CA that the tenant has none of': showing(
      client(createAuthority('intermediate', 1, world)),
      a.certificate,
    ),
  };
  for (const [name, options] of Object.entries(cases)) {
    test(name, async () => {
      await using port = await openPort();
      assert.deepEqual(names(await known(port, options)), nobody);
    });
  }
});

test('what is sent behind a good certificate changes nothing', async () => {
  await using port = await openPort();
  const extra = [ca().certificate, client(root).certificate, a.certificate, b.certificate];
  assert.deepEqual(names(await known(port, showing(client(a), ...extra))), [undefined, 'admin', undefined]);
});

test('the management plane may have a CA of the same name: its users stay its own, and tenants theirs', async () => {
  const same = ca();
  await using port = await openPort(same);
  assert.deepEqual(names(await known(port, showing(client(same)))), ['admin', undefined, undefined]);
  assert.deepEqual(names(await known(port, showing(client(a)))), [undefined, 'admin', undefined]);
});

test('a certificate of the tenant that its CA issued for nobody in particular has groups of its own only', async () => {
  await using port = await openPort();
  const { a: found } = await known(port, showing(client(a, { organizations: [] })));
  assert.deepEqual(found?.groups, ['system:authenticated']);
});

describe('in one connection', () => {
  const requestOf = (der: () => Uint8Array) =>
    ({ peer: { address: '', certificate: undefined, unverified: { der } } }) as never;

  test('a certificate is verified once, and counts until it expires', () => {
    let now = Date.now();
    const authenticator = new TenantCertificateAuthenticator(a.certificate, { ...systemClock, now: () => now });
    let reads = 0;
    const { raw } = new X509Certificate(client(a, { days: 1 }).certificate);
    const request = requestOf(() => {
      reads++;
      return raw;
    });
    assert.equal(authenticator.authenticate(request)?.name, 'admin');
    assert.equal(authenticator.authenticate(request)?.name, 'admin');
    assert.equal(reads, 1);
    now += 2 * dayMs;
    assert.equal(authenticator.authenticate(request), undefined);
    now -= 4 * dayMs;
    assert.equal(authenticator.authenticate(request), undefined);
  });

  test('a certificate counts no longer than its CA', () => {
    const short = createAuthority(tenantAuthorityName, 1, world);
    const { raw } = new X509Certificate(client(short, { days: 100 }).certificate);
    const at = (ms: number) => new TenantCertificateAuthenticator(short.certificate, later(ms).clock);
    assert.equal(at(0).authenticate(requestOf(() => raw))?.name, 'admin');
    assert.equal(at(2 * dayMs).authenticate(requestOf(() => raw)), undefined);
  });

  test('what is no certificate is nobody', () => {
    const authenticator = new TenantCertificateAuthenticator(a.certificate, systemClock);
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('nonsense'),
      new X509Certificate(a.certificate).raw.subarray(9),
    ]) {
      assert.equal(authenticator.authenticate(requestOf(() => bytes)), undefined);
    }
  });

  test('what TLS verified is not looked at, whatever it says', () => {
    const { raw } = new X509Certificate(client(a).certificate);
    const certificate = { commonName: 'admin', organizations: [], expiresAt: Infinity, chain: () => [raw] };
    const authenticator = new TenantCertificateAuthenticator(a.certificate, systemClock);
    assert.equal(authenticator.authenticate({ peer: { address: '', certificate } } as never), undefined);
  });
});
