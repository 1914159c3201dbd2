/** Tests which clients can cause a closed tenant to be opened. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { createAuthority } from '@hangar/pki';
import { signJwt } from '../auth/jwt/jwt.ts';
import { signingKeyOf } from '../auth/service-accounts/keys.ts';
import { world } from '../http/testing/test-port.ts';
import { newTokenKey } from '../testing/authentication.ts';
import { serverRequest } from '../testing/open-server.ts';
import { planePath, tenant, tenants, TenancyServer } from '../testing/tenancy-server.ts';
import type { Sent } from '../testing/test-server.ts';
import { tenantAuthorityName } from './keys/advertised-authority.ts';
import { client } from './keys/testing.ts';
import { proofOf } from './proof.ts';

const atOnce = { tenancy: { strangersPaceMs: 0 } };
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const issuerOf = (path: string): string => `https://127.0.0.1:6443/clusters/${path}/control-plane`;

const showing = (certificate: string): Sent => {
  const { raw } = new X509Certificate(certificate);
  return { token: null, peer: { address: '', certificate: undefined, unverified: { der: () => raw } } };
};

/** Returns the credentials of the tenant's administrator. */
async function administratorOf(server: TenancyServer, name: string): Promise<Sent> {
  const { status } = await server.expect(201, 'POST', `${tenants}/${name}/kubeconfig`, { body: {} });
  const [, encoded] = /client-certificate-data: (\S+)/.exec(status.kubeconfig)!;
  return showing(Buffer.from(encoded!, 'base64').toString());
}

async function tokenOf(server: TenancyServer, path: string): Promise<string> {
  await server.expect(201, 'POST', `${path}${accounts}`, { body: { metadata: { name: 'robot' } } });
  return (await server.expect(201, 'POST', `${path}${accounts}/robot/token`, { body: { spec: {} } })).status.token;
}

async function bootstrapTokenOf(server: TenancyServer, path: string): Promise<string> {
  const data = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' };
  const secret = {
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: data,
  };
  await server.expect(201, 'POST', `${path}/api/v1/namespaces/kube-system/secrets`, { body: secret });
  return 'abcdef.0123456789abcdef';
}

const claims = (issuer: string) => ({ iss: issuer, sub: 'system:serviceaccount:default:robot', aud: [issuer] });
const forged = (issuer: string): string => signJwt(claims(issuer), signingKeyOf(newTokenKey()));
const withoutKeyId = (issuer: string): string => signJwt(claims(issuer), { ...signingKeyOf(newTokenKey()), id: '' });

describe('a closed tenant', () => {
  test('is not opened by strangers, and they have nothing written', async () => {
    await using server = await TenancyServer.open({
      ...atOnce,
      tokens: [{ token: 'plain', user: 'plain' }],
    });
    await server.make('fresh', { hosts: ['fresh.example.com'] });
    const used = await server.make('used', { hosts: ['used.example.com'] });
    await tokenOf(server, used);
    await bootstrapTokenOf(server, used);
    const other = await server.make('other');
    const ofOther = [await administratorOf(server, 'other'), { token: await tokenOf(server, other) }];
    server.tenancy.open.drop('used');
    server.tenancy.open.drop('other');
    const before = await server.store.revision();
    const madeUp = createAuthority(tenantAuthorityName, 1, world);
    for (const name of ['fresh', 'used', 'nobodys']) {
      const strangers: [number, Sent][] = [
        [401, { token: 'junk' }],
        [401, { token: 'zzzzzz.0123456789abcdef' }],
        [401, { token: forged(issuerOf(name)) }],
        [401, { token: withoutKeyId(issuerOf(name)) }],
        [401, { token: withoutKeyId('kubernetes/serviceaccount') }],
        [401, showing(client(madeUp).certificate)],
        [401, ofOther[0]!],
        [401, ofOther[1]!],
        [404, { token: 'plain' }],
      ];
      for (const [status, sent] of strangers) {
        await server.expect(status, 'GET', `${planePath(name)}/api/v1/namespaces`, sent);
        if (name === 'nobodys') continue;
        await server.expect(status, 'GET', '/api/v1/namespaces', {
          ...sent,
          headers: { host: `${name}.example.com` },
        });
      }
      assert.equal(server.tenancy.open.size, 0, name);
    }
    assert.equal(await server.store.revision(), before);
  });

  test('is opened by its own users, and by the masters of the platform', async () => {
    await using server = await TenancyServer.open(atOnce);
    const path = await server.make('demo', { hosts: ['demo.example.com'] });
    const known: Readonly<Record<string, [number, Sent]>> = {
      'a certificate': [200, await administratorOf(server, 'demo')],
      'a token of a service account': [403, { token: await tokenOf(server, path) }],
      'a bootstrap token': [403, { token: await bootstrapTokenOf(server, path) }],
      'a master': [200, {}],
    };
    for (const [what, [status, sent]] of Object.entries(known)) {
      for (const [target, headers] of [
        [`${path}/api/v1/namespaces`, {}],
        ['/api/v1/namespaces', { host: 'demo.example.com' }],
      ] as const) {
        server.tenancy.open.drop('demo');
        await server.expect(status, 'GET', target, { ...sent, headers });
        assert.equal(server.tenancy.open.size, 1, what);
      }
    }
  });

  test('that was never opened is opened by the first certificate, which is verified once', async () => {
    await using server = await TenancyServer.open(atOnce);
    const path = await server.make('demo');
    const sent = await administratorOf(server, 'demo');
    let reads = 0;
    const { der } = sent.peer!.unverified!;
    const peer = { ...sent.peer!, unverified: { der: () => (reads++, der()) } };
    await server.expect(200, 'GET', `${path}/api/v1/namespaces/default`, { ...sent, peer });
    await server.expect(200, 'GET', `${path}/api/v1/namespaces/default`, { ...sent, peer });
    assert.equal(reads, 1);
  });

  test('is as well as the server is, for anybody who asks by its host name', async () => {
    await using server = await TenancyServer.open(atOnce);
    await server.make('demo', { hosts: ['demo.example.com'] });
    const asked: Sent = { token: null, headers: { host: 'demo.example.com' } };
    for (const path of ['/readyz', '/livez', '/version']) await server.expect(200, 'GET', path, asked);
    await server.expect(401, 'GET', '/readyz', { ...asked, token: 'junk' });
    await server.expect(401, 'GET', '/api', asked);
    assert.equal(server.tenancy.open.size, 0);
    await server.expect(200, 'PATCH', `${tenants}/demo`, {
      body: { spec: { suspension: 'Offline' } },
      contentType: 'application/merge-patch+json',
    });
    await server.expect(503, 'GET', '/readyz', asked);
  });

  test('that is suspended to nothing is not opened by anybody', async () => {
    await using server = await TenancyServer.open(atOnce);
    await server.expect(201, 'POST', tenants, { body: tenant('demo', { suspension: 'Offline' }) });
    const administrator = await administratorOf(server, 'demo');
    for (const sent of [{}, administrator]) {
      const { message } = await server.expect(503, 'GET', `${planePath('demo')}/api/v1/namespaces`, sent);
      assert.match(message, /control plane "demo" is suspended/);
    }
    await server.expect(401, 'GET', `${planePath('demo')}/api/v1/namespaces`, { token: 'junk' });
    assert.equal(server.tenancy.open.size, 0);
  });
});

test('a store that does not answer proves nothing, and is not waited for without end', async () => {
  const clock = new Scheduler(seededRandom(1));
  const asked = { clock, storePrefix: '/registry', store: { get: () => new Promise(() => {}) } };
  const platformUsers = () => ({ root: { identify: () => undefined }, isMember: () => false });
  const { peer } = showing(client(createAuthority(tenantAuthorityName, 1, world)).certificate);
  const request = serverRequest({
    method: 'GET',
    target: '/',
    headers: new Map(),
    body: new Uint8Array(),
    peer: peer!,
  });
  const proving = proofOf({ ...asked, platformUsers } as unknown as Parameters<typeof proofOf>[0], 'demo', request);
  assert.equal(await clock.run(proving), undefined);
  assert.equal(clock.monotonicMs(), 10_000);
});

test('whether there is a tenant is not told by how often the management plane is asked', async () => {
  let asked = 0;
  const far = { authenticateToken: async () => void asked++ };
  await using server = await TenancyServer.open({ ...atOnce, authenticators: [far] });
  for (const name of ['open', 'closed']) await server.make(name);
  await server.expect(200, 'GET', `${planePath('open')}/api`);
  const times = [];
  for (const name of ['open', 'closed', 'nobodys']) {
    asked = 0;
    await server.expect(401, 'GET', `${planePath(name)}/api`, { token: `junk-${name}` });
    times.push(asked);
  }
  assert.deepEqual(times, [2, 2, 2]);
});

describe('tokens of a tenant', () => {
  test('go on to count when the platform has got another address', async () => {
    const url = (host: string) => ({
      tenancy: { strangersPaceMs: 0, url: (path: string) => `https://${host}/clusters/${path}/control-plane` },
    });
    await using before = await TenancyServer.open(url('old.example.com:6443'));
    const path = await before.make('demo');
    await before.make('other');
    const token = await tokenOf(before, path);
    const elsewhere = 'https://far.example.com/clusters/demo/control-plane';
    const { status } = await before.expect(201, 'POST', `${path}${accounts}/robot/token`, {
      body: { spec: { audiences: [elsewhere] } },
    });
    await using now = await TenancyServer.open({ ...url('new.example.com'), store: before.store });
    await now.expect(403, 'GET', `${path}/api/v1/namespaces`, { token });
    await now.expect(401, 'GET', `${planePath('other')}/api/v1/namespaces`, { token });
    const { status: review } = await now.expect(201, 'POST', `${path}/apis/authentication.k8s.io/v1/tokenreviews`, {
      body: { spec: { token } },
    });
    assert.deepEqual(review.audiences, ['https://new.example.com/clusters/demo/control-plane']);
    // A token with another audience stays invalid, however similar the names are.
    for (const server of [before, now]) {
      await server.expect(401, 'GET', `${path}/api/v1/namespaces`, { token: status.token });
    }
    const fresh = await now.expect(201, 'POST', `${path}${accounts}/robot/token`, { body: { spec: {} } });
    assert.match(Buffer.from(fresh.status.token.split('.')[1], 'base64url').toString(), /"iss":"https:\/\/new\./);
  });

  test('are reviewed by the tenant alone: what the platform knows or fails at is not told there', async () => {
    let asked = 0;
    const failing = {
      authenticateToken: (token: string) => {
        if (token === 'admin') return undefined;
        asked++;
        throw new Error('the webhook of the platform is down');
      },
    };
    await using server = await TenancyServer.open({ ...atOnce, authenticators: [failing] });
    const path = await server.make('demo');
    const review = async (token: string) =>
      (
        await server.expect(201, 'POST', `${path}/apis/authentication.k8s.io/v1/tokenreviews`, {
          body: { spec: { token } },
        })
      ).status;
    for (const token of ['junk', 'admin', forged('https://kubernetes.default.svc')]) {
      assert.deepEqual(await review(token), { user: {}, error: 'invalid bearer token' });
    }
    assert.equal(asked, 0);
    // The tenant's own users are authenticated even if the management plane fails.
    const token = await tokenOf(server, path);
    assert.equal((await review(token)).authenticated, true);
    await server.expect(403, 'GET', `${path}/api/v1/namespaces`, { token });
    const { status } = await server.answer('GET', `${path}/api/v1/namespaces`, { token: 'junk' });
    assert.equal(status, (await server.answer('GET', `${planePath('nobodys')}/api`, { token: 'junk' })).status);
    assert.ok(asked > 0);
  });
});
