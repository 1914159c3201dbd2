/**
 * Compares a real kube-apiserver and Hangar with the same issuer and configuration: each token has the same result. In addition, Hangar
 * accepts tokens that the real kube-apiserver issued.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { Outbound } from '../../outbound/index.ts';
import { startInProcess } from '../../testing/in-process.ts';
import { OidcAuthenticator } from './authenticator.ts';
import { readAuthenticationConfiguration } from './configuration.ts';
import { TestIssuer } from './testing/issuer.ts';

const world = { clock: systemClock, random: systemRandom };
const now = Math.floor(Date.now() / 1_000);

const claimMappings = {
  username: { expression: '"oidc:" + claims.sub' },
  groups: { expression: 'claims.?roles.orValue([])' },
  uid: { claim: 'id' },
  extra: [{ key: 'example.com/level', valueExpression: 'claims.?level.orValue("")' }],
};
const rules = {
  claimValidationRules: [
    { claim: 'tenant', requiredValue: 'blue' },
    { expression: 'claims.exp - claims.iat <= 86400', message: 'lives too long' },
  ],
  userValidationRules: [{ expression: '!user.username.contains("admin")', message: 'no administrators' }],
};

const good = { tenant: 'blue', id: '7' };
const claims: Readonly<Record<string, object>> = {
  'a good token': good,
  'with groups and extra': { ...good, roles: ['a', '', 'b'], level: 'high', jti: 'x' },
  'with one group': { ...good, roles: 'only' },
  'with groups that are none': { ...good, roles: 7 },
  'without a required claim': { id: '7' },
  'with another value of it': { ...good, tenant: 'red' },
  'without a uid': { tenant: 'blue' },
  'that lives too long': { ...good, exp: now + 90_000 },
  'of a user who is refused': { ...good, sub: 'the admin' },
  'without a subject': { ...good, sub: undefined },
  'for another audience': { ...good, aud: 'other' },
  'for several audiences': { ...good, aud: ['other', 'hangar'] },
  expired: { ...good, exp: now - 10 },
  'not valid yet': { ...good, nbf: now + 3_600 },
  'a little early': { ...good, nbf: now + 60 },
  'of another issuer': { ...good, iss: 'https://other.example' },
};

const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const review = (token: string): { body: string } => ({ body: JSON.stringify({ spec: { token } }) });
const statusIn = (body: Uint8Array): Record<string, unknown> =>
  (JSON.parse(Buffer.from(body).toString()) as { status: Record<string, unknown> }).status;

function fetching(outbound: Outbound) {
  return async (url: string, ca: string | undefined): Promise<unknown> => {
    const { body } = await outbound.request({ url, ca, timeoutMs: 5_000, isTrusted: true });
    return JSON.parse(Buffer.from(body).toString());
  };
}

test('a token is the same user to both servers, or nobody', async () => {
  const authority = createAuthority('issuer-ca', 1, world);
  const { key, certificate } = issueCertificate(
    authority,
    { commonName: 'issuer', usage: 'server', hosts: ['127.0.0.1'], days: 1 },
    world,
  );
  const folder = await mkdtemp(join(tmpdir(), 'hangar-oidc-'));
  const outbound = new Outbound();
  let issuer: TestIssuer | undefined;
  const server = createServer({ key, cert: certificate }, (request, answer) => {
    const document = issuer?.document(request.url ?? '');
    answer.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
    answer.end(JSON.stringify(document ?? {}));
  }).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    issuer = new TestIssuer(url);
    const configuration = JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      jwt: [
        {
          issuer: { url, audiences: ['hangar'], certificateAuthority: authority.certificate },
          claimMappings,
          ...rules,
        },
      ],
    });
    const file = join(folder, 'authentication.json');
    await writeFile(file, configuration);
    await using real = await startRealServer([`--authentication-config=${file}`]);
    await using ours = await startInProcess({
      authenticators: [
        new OidcAuthenticator({
          issuers: readAuthenticationConfiguration(configuration, []).issuers,
          fetch: fetching(outbound),
          clock: systemClock,
        }),
      ],
    });
    await untilKnown(() => real.request('POST', reviews, review(issuer!.token(good))));
    for (const [name, one] of Object.entries(claims)) {
      const token = issuer.token(one as never);
      const theirs = statusIn((await real.request('POST', reviews, review(token))).body);
      const mine = statusIn((await ours.request('POST', reviews, review(token))).body);
      const { audiences: _theirs, error: theirError, ...theirRest } = theirs;
      const { audiences: _mine, error: myError, ...myRest } = mine;
      assert.deepEqual(myRest, theirRest, `${name}: ${String(myError)} / ${String(theirError)}`);
    }
  } finally {
    server.closeAllConnections();
    server.close();
    await outbound.close();
    await rm(folder, { recursive: true });
  }
});

/** kube-apiserver fetches the keys of issuers in the background after it starts. */
async function untilKnown(ask: () => Promise<{ body: Buffer }>): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (statusIn((await ask()).body)['authenticated'] === true) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail('the real server does not know its issuer');
}

test('tokens of a real kube-apiserver are accepted, as of any other issuer', async () => {
  const url = 'https://kubernetes.default.svc';
  await using real = await startRealServer(['--api-audiences=theirs']);
  await real.request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    body: JSON.stringify({ metadata: { name: 'robot' } }),
  });
  const issued = await real.request('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', {
    body: JSON.stringify({ spec: { audiences: ['hangar'], expirationSeconds: 600 } }),
  });
  assert.equal(issued.status, 201, issued.body.toString());
  const { token } = statusIn(issued.body) as { token: string };
  const { issuers } = readAuthenticationConfiguration(
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      jwt: [
        {
          issuer: { url, audiences: ['hangar'] },
          claimMappings: { username: { expression: '"remote:" + claims.sub' } },
        },
      ],
    }),
    [],
  );
  const authenticator = new OidcAuthenticator({
    issuers,
    clock: systemClock,
    // Its address is not reachable for the fetch of documents: the test fetches them.
    fetch: async (address) => {
      const { body } = await real.request('GET', new URL(address).pathname, { accept: '*/*' });
      return JSON.parse(body.toString()) as unknown;
    },
  });
  const identity = await authenticator.authenticateToken(token);
  assert.equal(identity?.user.name, 'remote:system:serviceaccount:default:robot');
  const [head, body, signature] = token.split('.');
  const forged = `${head}.${body}.${signature!.startsWith('A') ? 'B' : 'A'}${signature!.slice(1)}`;
  await assert.rejects(async () => authenticator.authenticateToken(forged), /failed to verify signature/);
});
