/** Tokens that the whole server must refuse. Each differs in one detail from an accepted one. */

import assert from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '@hangar/api';
import { signingKeyOf } from '@hangar/server';
import { signJwt } from '../../packages/server/src/auth/jwt/jwt.ts';
import { Victim, mine, theirs } from './testing/victim.ts';
import type { Data } from './testing/client.ts';

let victim: Victim;
let good: string;
before(async () => {
  victim = await Victim.start();
  await victim.administrator.create(`${mine}/serviceaccounts`, { metadata: { name: 'robot' } });
  good = await tokenOf('robot');
});
after(() => victim[Symbol.asyncDispose]());

async function tokenOf(name: string, spec: object = {}): Promise<string> {
  const { status } = await victim.administrator.create(`${mine}/serviceaccounts/${name}/token`, { spec });
  return status.token as string;
}

const whoIs = (token: string): Promise<Data> => victim.client({ token }).whoAmI();

const partsOf = (token: string): JsonObject[] =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as JsonObject);
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** With the server's own key: only the claims are wrong. */
async function forged(change: (claims: JsonObject, nowSeconds: number) => object): Promise<string> {
  const [, claims = {}] = partsOf(good);
  const changed = { ...claims, ...change(claims, Math.floor(Date.now() / 1_000)) } as JsonObject;
  return signJwt(changed, signingKeyOf(await victim.pki('sa.key')));
}

/** Asserts 401 over both protocols, on a read, a write and a watch; also on paths for anonymous users. */
async function isRefused(token: string): Promise<void> {
  const client = victim.client({ token });
  for (const [method, path] of [
    ['GET', `${mine}/configmaps`],
    ['GET', `${mine}/configmaps?watch=true`],
    ['DELETE', `${theirs}/configmaps/treasure`],
    ['GET', '/version'],
  ] as const) {
    assert.equal((await client.request(method, path)).status, 401, `${method} ${path}`);
    assert.equal((await client.request2(method, path)).status, 401, `${method} ${path} over HTTP/2`);
  }
  await victim.isUntouched();
}

test('a token of a service account is its account, and nothing more', async () => {
  const { username, groups } = await whoIs(good);
  assert.equal(username, 'system:serviceaccount:mine:robot');
  assert.deepEqual(groups, ['system:serviceaccounts', 'system:serviceaccounts:mine', 'system:authenticated']);
  assert.equal((await victim.client({ token: good }).request('GET', `${mine}/configmaps`)).status, 403);
});

describe('a token is refused', () => {
  test('signed by another key, under the name of the server’s key', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const { id } = signingKeyOf(await victim.pki('sa.key'));
    const claims = { ...partsOf(good)[1]!, sub: 'system:serviceaccount:kube-system:admin' };
    await isRefused(signJwt(claims as JsonObject, { id, key: privateKey }));
  });

  test('whose claims were changed after it was signed', async () => {
    const [head, , signature] = good.split('.');
    await isRefused(`${head}.${encoded({ ...partsOf(good)[1], sub: 'system:admin' })}.${signature}`);
  });

  test('that says alg: none', async () => {
    const [head, claims = {}] = partsOf(good);
    for (const alg of ['none', 'NONE', 'nOnE']) await isRefused(`${encoded({ ...head, alg })}.${encoded(claims)}.`);
  });

  test('that is signed with the published public key as if it were a shared secret', async () => {
    const [head, claims = {}] = partsOf(good);
    const secret = createPublicKey(await victim.pki('sa.pub')).export({ type: 'spki', format: 'pem' });
    const text = `${encoded({ ...head, alg: 'HS256' })}.${encoded(claims)}`;
    await isRefused(`${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`);
  });

  test('that has expired', async () => isRefused(await forged((_, now) => ({ exp: now - 120, iat: now - 4_000 }))));
  test('that is not valid yet', async () => isRefused(await forged((_, now) => ({ nbf: now + 120 }))));
  test('that was issued for another audience', async () => {
    await isRefused(await forged(() => ({ aud: ['vault.example.com'] })));
    await isRefused(await tokenOf('robot', { audiences: ['vault.example.com'] }));
  });
  test('that another issuer claims to have issued', async () =>
    isRefused(await forged(() => ({ iss: 'https://issuer.example.com' }))));
  test('whose claims have keys of prototypes instead of an account', async () => {
    const [, claims = {}] = partsOf(good);
    const text = JSON.stringify({ ...claims, 'kubernetes.io': 0 }).replace(
      '"kubernetes.io":0',
      '"__proto__":{"kubernetes.io":{"namespace":"mine"}},"constructor":{"prototype":{"groups":["system:masters"]}}',
    );
    await isRefused(signJwt(JSON.parse(text) as JsonObject, signingKeyOf(await victim.pki('sa.key'))));
    assert.equal(({} as Data).groups, undefined);
  });
  test('in a query, in a cookie, or as a password', async () => {
    const { stranger } = victim;
    const target = `${mine}/configmaps`;
    assert.equal((await stranger.request('GET', `${target}?access_token=${good}`)).status, 401);
    assert.equal((await stranger.request('GET', target, { headers: { cookie: `token=${good}` } })).status, 401);
    const basic = `Basic ${Buffer.from(`robot:${good}`).toString('base64')}`;
    assert.equal((await stranger.request('GET', target, { headers: { authorization: basic } })).status, 401);
  });
});

test('two Authorization headers are not a choice: the second one is never used', async () => {
  const answer = await victim.stranger.raw(
    `POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: x\r\n` +
      `Authorization: Bearer wrong\r\nAuthorization: Bearer ${good}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  );
  assert.match(answer, /^HTTP\/1\.1 40[01] /);
});

describe('a token after its account was deleted', () => {
  test('is refused, on connections that were open before too, and by an account of the same name', async () => {
    await victim.administrator.create(`${mine}/serviceaccounts`, { metadata: { name: 'gone' } });
    const token = await tokenOf('gone');
    const old = victim.client({ token });
    assert.ok(await old.whoAmI(), 'the token is good while its account is there');
    await victim.administrator.expect(200, 'DELETE', `${mine}/serviceaccounts/gone`);
    for (let attempt = 0; (await old.whoAmI()) !== undefined; attempt++)
      assert.ok(attempt < 500, 'it is still believed');
    await isRefused(token);
    await victim.administrator.create(`${mine}/serviceaccounts`, { metadata: { name: 'gone' } });
    await isRefused(token);
    assert.ok(await whoIs(await tokenOf('gone')), 'the new account has tokens of its own');
  });

  test('is refused when it was of a secret that was deleted', async () => {
    const { administrator } = victim;
    const account = await administrator.create(`${mine}/serviceaccounts`, { metadata: { name: 'old' } });
    // As the token controller writes it.
    const claims: JsonObject = {
      iss: 'kubernetes/serviceaccount',
      sub: 'system:serviceaccount:mine:old',
      'kubernetes.io/serviceaccount/namespace': 'mine',
      'kubernetes.io/serviceaccount/secret.name': 'old-token',
      'kubernetes.io/serviceaccount/service-account.name': 'old',
      'kubernetes.io/serviceaccount/service-account.uid': account.metadata.uid,
    };
    const token = signJwt(claims, signingKeyOf(await victim.pki('sa.key')));
    await isRefused(token);
    await administrator.create(`${mine}/secrets`, {
      metadata: { name: 'old-token', annotations: { 'kubernetes.io/service-account.name': 'old' } },
      type: 'kubernetes.io/service-account-token',
      stringData: { token },
    });
    const client = victim.client({ token });
    for (let attempt = 0; (await client.whoAmI()) === undefined; attempt++) assert.ok(attempt < 500, 'never believed');
    await administrator.expect(200, 'DELETE', `${mine}/secrets/old-token`);
    for (let attempt = 0; (await client.whoAmI()) !== undefined; attempt++) assert.ok(attempt < 500, 'still believed');
    await isRefused(token);
  });
});
