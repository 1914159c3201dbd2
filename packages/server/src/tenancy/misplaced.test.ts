import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { Peer } from '../http/message.ts';
import { anonymousPeer, planePath, tenants, TenancyServer } from '../testing/tenancy-server.ts';

const world = { clock: systemClock, random: systemRandom };

const peerOf = (certificate: string): Peer => {
  const { raw } = new X509Certificate(certificate);
  return { address: '127.0.0.1', certificate: undefined, unverified: { der: () => raw } };
};

async function adminPeer(server: TenancyServer, name: string): Promise<Peer> {
  const { status } = await server.expect(201, 'POST', `${tenants}/${name}/kubeconfig`);
  const data = /client-certificate-data: (\S+)/.exec(status.kubeconfig)![1]!;
  return peerOf(Buffer.from(data, 'base64').toString());
}

const strangerPeer = (authorityName: string): Peer => {
  const authority = createAuthority(authorityName, 1, world);
  return peerOf(issueCertificate(authority, { commonName: 'x', usage: 'client', days: 1 }, world).certificate);
};

test('a certificate of a tenant gets 404 with a hint at the root path, and its own answers at its own path', async () => {
  await using server = await TenancyServer.open();
  const path = await server.make('demo');
  const peer = await adminPeer(server, 'demo');
  const sent = { token: null, peer };
  await server.expect(200, 'GET', `${path}/version`, sent);
  await server.expect(200, 'GET', `${path}/api/v1/namespaces`, sent);
  for (const target of ['/metrics', '/version', '/healthz', '/openapi/v3']) {
    const { message, reason } = await server.expect(404, 'GET', target, sent);
    assert.equal(reason, 'NotFound');
    assert.match(
      message,
      /does not accept the credential of a control plane: send the request to \/clusters\/NAME\/control-plane/,
    );
    assert.ok(message.includes(JSON.stringify(target)), message);
    assert.doesNotMatch(message, /demo/);
  }
  await server.expect(200, 'GET', '/version', { token: null });
  for (const target of ['/api', '/apis', '/api/v1/namespaces']) await server.expect(401, 'GET', target, sent);
});

test('a token of a tenant gets the same, and an administrator is not affected by a certificate beside the token', async () => {
  await using server = await TenancyServer.open();
  const path = await server.make('demo');
  const accounts = `${path}/api/v1/namespaces/default/serviceaccounts`;
  const metadata = { name: 'robot' };
  await server.expect(201, 'POST', accounts, { body: { kind: 'ServiceAccount', apiVersion: 'v1', metadata } });
  const { status } = await server.expect(201, 'POST', `${accounts}/robot/token`, { body: { spec: {} } });
  assert.match((await server.expect(404, 'GET', '/metrics', { token: status.token })).message, /kubectl get --raw/);
  await server.expect(200, 'GET', '/api', { peer: await adminPeer(server, 'demo') });
});

test('the hint does not depend on whether a tenant exists', async () => {
  await using server = await TenancyServer.open();
  const sent = { token: null, peer: strangerPeer('hangar-tenant-ca') };
  const before = await server.expect(404, 'GET', '/metrics', sent);
  await server.make('demo');
  assert.deepEqual(await server.expect(404, 'GET', '/metrics', sent), before);
  // At the path of a tenant, an unknown user gets the usual answer, whether the tenant exists or not.
  for (const name of ['demo', 'nope']) await server.expect(401, 'GET', `${planePath(name)}/api`, sent);
});

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const unsignedToken = [{ alg: 'RS256' }, { iss: 'https://127.0.0.1:6443/clusters/demo/control-plane' }]
  .map(encoded)
  .concat('x')
  .join('.');

const documents = ['/metrics', '/version', '/healthz', '/livez', '/readyz', '/openapi/v2', '/openapi/v3'];

test('the answer at a host name does not depend on whether a tenant has this name', async () => {
  await using server = await TenancyServer.open();
  await server.make('demo', { hosts: ['demo.example.com'] });
  const { address } = anonymousPeer;
  for (const shown of [{ token: unsignedToken }, { token: null, peer: strangerPeer('hangar-tenant-ca') }]) {
    for (const target of documents) {
      for (const isByServerName of [false, true]) {
        const answers = [];
        for (const host of ['demo.example.com', 'nope.example.com']) {
          const peer: Peer = { ...('peer' in shown ? shown.peer : { address, certificate: undefined }) };
          const sent = isByServerName
            ? { ...shown, peer: { ...peer, serverName: host }, headers: { host: '127.0.0.1:6443' } }
            : { ...shown, headers: { host } };
          const { status, text } = await server.request('GET', target, sent);
          answers.push({ status, text });
        }
        assert.deepEqual(answers[0], answers[1], `${target} ${JSON.stringify(Object.keys(shown))}`);
        assert.notEqual(answers[0]!.status, 404, target);
      }
    }
  }
});

test('the hint is given at the names and addresses of the server', async () => {
  await using server = await TenancyServer.open({ tenancy: { ownHosts: () => ['localhost', 'API.example.com'] } });
  for (const host of ['localhost:6443', '127.0.0.1', '[::1]:6443', '192.0.2.1:443', 'api.example.com']) {
    const { message } = await server.expect(404, 'GET', '/metrics', { token: unsignedToken, headers: { host } });
    assert.match(message, /kubectl get --raw/);
  }
  for (const host of ['other.example.com', 'localhost.example.com', '[::1', 'x@127.0.0.1']) {
    await server.expect(401, 'GET', '/metrics', { token: unsignedToken, headers: { host } });
  }
});

test('other unknown credentials get the usual answers', async () => {
  await using server = await TenancyServer.open();
  await server.make('demo', { hosts: ['demo.example.com'] });
  const foreign = { token: null, peer: strangerPeer('another-ca') };
  await server.expect(401, 'GET', '/metrics', foreign);
  await server.expect(200, 'GET', '/healthz', foreign);
  await server.expect(401, 'GET', '/metrics', { token: 'wrong' });
  // At the host name of a closed tenant, the health endpoints return the health of the server.
  const own = { token: null, peer: await adminPeer(server, 'demo'), headers: { host: 'demo.example.com' } };
  await server.expect(200, 'GET', '/healthz', own);
});
