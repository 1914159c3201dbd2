/** Tokens that must be rejected. Each differs in one detail from a valid token. */

import assert from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import type { JsonObject } from '@hangar/api';
import type { Authorizer } from '../authorize.ts';
import { signJwt } from '../jwt/jwt.ts';
import { newTokenKey } from '../../testing/authentication.ts';
import { TestServer, virtualClock } from '../../testing/test-server.ts';
import { signingKeyOf, verificationKeysOf } from './keys.ts';
import { account, accounts, createAccount, encodedPart, partsOf, review, tokenOf, whoIs } from './testing.ts';

const anyone: Authorizer = { authorize: () => 'allow' };
const pem = newTokenKey();
const signingKey = signingKeyOf(pem);

const start = (options: Parameters<typeof TestServer.start>[0] = {}): Promise<TestServer> =>
  TestServer.start({
    authorizers: [anyone],
    serviceAccounts: { signingKey, verificationKeys: verificationKeysOf(pem) },
    ...options,
  });

/** Returns the parts of a valid token, which the server accepts. */
async function good(server: TestServer): Promise<{ head: JsonObject; claims: JsonObject; token: string }> {
  await createAccount(server);
  const token = await tokenOf(server);
  assert.ok(await whoIs(server, token), 'the token itself is good');
  const [head, claims] = partsOf(token);
  return { head, claims, token };
}

describe('a signature', () => {
  test('of another key is refused, with the key id of ours, of theirs and without any', async () => {
    await using server = await start();
    const { claims } = await good(server);
    const { key } = signingKeyOf(newTokenKey());
    for (const id of [signingKey.id, 'theirs', '']) {
      assert.equal(await whoIs(server, signJwt(claims, { id, key })), undefined, id);
    }
  });

  test('is over the claims: changed ones are refused', async () => {
    await using server = await start();
    const { claims, token } = await good(server);
    const [head, , signature] = token.split('.');
    const other = encodedPart({ ...claims, sub: 'system:serviceaccount:kube-system:admin' });
    assert.equal(await whoIs(server, `${head}.${other}.${signature}`), undefined);
    assert.equal(await whoIs(server, `${head}.${token.split('.')[1]}.`), undefined);
    assert.equal(await whoIs(server, token.slice(0, -6)), undefined);
  });

  test('of no algorithm is refused', async () => {
    await using server = await start();
    const { head, claims, token } = await good(server);
    const signature = token.split('.')[2];
    for (const alg of ['none', 'None', 'NONE', '', 'constructor', '__proto__']) {
      const text = `${encodedPart({ ...head, alg })}.${encodedPart(claims)}`;
      for (const end of ['', signature]) assert.equal(await whoIs(server, `${text}.${end}`), undefined, alg);
    }
  });

  test('with the public key as a shared secret is refused', async () => {
    await using server = await start();
    const { head, claims } = await good(server);
    const publicKey = createPublicKey(pem);
    const text = `${encodedPart({ ...head, alg: 'HS256' })}.${encodedPart(claims)}`;
    for (const format of ['pem', 'der'] as const) {
      const secret = publicKey.export({ type: 'spki', format } as { type: 'spki'; format: 'pem' });
      const signature = createHmac('sha256', secret).update(text).digest('base64url');
      assert.equal(await whoIs(server, `${text}.${signature}`), undefined, format);
    }
  });

  test('with a key that the token brings along is refused', async () => {
    await using server = await start();
    const { claims } = await good(server);
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const forged = signJwt(claims, { id: signingKey.id, key: privateKey });
    const jwk = publicKey.export({ format: 'jwk' });
    const withKey = [encodedPart({ alg: 'ES256', kid: signingKey.id, jwk }), ...forged.split('.').slice(1)].join('.');
    assert.equal(await whoIs(server, withKey), undefined);
  });

  test('that demands extensions is refused', async () => {
    await using server = await start();
    const { head, claims } = await good(server);
    assert.equal(
      await whoIs(server, `${encodedPart({ ...head, crit: ['b64'], b64: false })}.${encodedPart(claims)}.x`),
      undefined,
    );
  });
});

describe('claims of a token with a good signature', () => {
  const cases: readonly [what: string, change: (claims: JsonObject, now: number) => JsonObject, error: RegExp][] = [
    ['expired', (_, now) => ({ exp: now - 61 }), /has expired/],
    ['without an end', () => ({ exp: undefined }), /has expired/],
    ['not valid yet', (_, now) => ({ nbf: now + 61 }), /is not valid yet/],
    ['issued in the future', (_, now) => ({ iat: now + 61 }), /is issued in the future/],
    [
      'of another audience',
      () => ({ aud: ['another'] }),
      /token audiences \["another"\] is invalid for the target audiences/,
    ],
    ['of an audience that is none', () => ({ aud: { 0: 'https://kubernetes.default.svc' } }), /could not be validated/],
    ['of another issuer', () => ({ iss: 'https://evil.example.com' }), /^invalid bearer token$/],
    ['of an issuer that is none', () => ({ iss: ['https://kubernetes.default.svc'] }), /^invalid bearer token$/],
    ['with texts for times', () => ({ exp: '99999999999' }), /could not be validated/],
    ['without an account', () => ({ 'kubernetes.io': { namespace: 'default' } }), /could not be validated/],
    [
      'of an account that is not there',
      () => ({ 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'nobody', uid: 'x' } } }),
      /serviceaccounts "nobody" not found/,
    ],
    [
      'of an account of another uid',
      () => ({ 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid: 'x' } } }),
      /UID .* does not match claim \(x\)/,
    ],
    [
      'of a pod that is not there',
      (claims) => ({ 'kubernetes.io': { ...(claims['kubernetes.io'] as object), pod: { name: 'p', uid: 'u' } } }),
      /has been invalidated/,
    ],
    [
      'of a node that is not there',
      (claims) => ({ 'kubernetes.io': { ...(claims['kubernetes.io'] as object), node: { name: 'n', uid: 'u' } } }),
      /has been invalidated/,
    ],
  ];
  for (const [what, change, error] of cases) {
    test(`${what}: refused`, async () => {
      const clock = virtualClock();
      await using server = await start({ clock });
      const { claims } = await good(server);
      const forged = signJwt({ ...claims, ...change(claims, Math.floor(clock.now() / 1_000)) }, signingKey);
      assert.equal(await whoIs(server, forged), undefined);
      assert.match((await review(server, forged)).error, error);
    });
  }
});

test('a token ends a minute after its time, also when it is in use', async () => {
  const clock = virtualClock();
  await using server = await start({ clock });
  await createAccount(server);
  const token = await tokenOf(server, { expirationSeconds: 600 });
  for (let passed = 0; passed < 659; passed += 3) {
    await clock.advance(3_000);
    assert.equal((await whoIs(server, token)) !== undefined, passed + 3 <= 660, `${passed + 3} s`);
  }
  await clock.advance(1_500);
  assert.equal(await whoIs(server, token), undefined);
});

test('a token does not outlive its account, nor come back with an account of the same name', async () => {
  await using server = await start();
  const { token } = await good(server);
  await server.remove(`${accounts}/robot`);
  await server.until('the token ends', async () => (await whoIs(server, token)) === undefined);
  await createAccount(server);
  assert.equal(await whoIs(server, token), undefined);
  assert.match((await review(server, token)).error, /does not match claim/);
  assert.ok(await whoIs(server, await tokenOf(server)));
});

test('a token counts for a minute while its account is being deleted', async () => {
  const clock = virtualClock();
  await using server = await start({ clock });
  await server.create(accounts, { ...account('robot'), metadata: { name: 'robot', finalizers: ['example.com/wait'] } });
  const token = await tokenOf(server);
  await server.request('DELETE', `${accounts}/robot`);
  assert.ok(await whoIs(server, token));
  await clock.advance(50_000);
  assert.ok(await whoIs(server, token));
  await clock.advance(21_000);
  assert.equal(await whoIs(server, token), undefined);
  assert.match((await review(server, token)).error, /service account default\/robot has been deleted/);
});

test('what is no token at all is refused', async () => {
  await using server = await start();
  const { token } = await good(server);
  const [head = '', claims = '', signature = ''] = token.split('.');
  for (const other of [
    '.',
    '..',
    '...',
    `${head}.${claims}`,
    `${token}.x`,
    `${head}=.${claims}.${signature}`,
    `${head}.${encodedPart([])}.${signature}`,
    `${encodedPart([])}.${claims}.${signature}`,
    `${Buffer.from('{').toString('base64url')}.${claims}.${signature}`,
    `${Buffer.from('null').toString('base64url')}.${claims}.${signature}`,
    `{"payload":"${claims}"}`,
    'x'.repeat(100_000),
    `${head}.${Buffer.from('['.repeat(30_000)).toString('base64url')}.${signature}`,
    `${Buffer.from('{"a":'.repeat(9_000)).toString('base64url')}.${claims}.${signature}`,
    `${'['.repeat(40_000)}`,
  ]) {
    assert.equal(await whoIs(server, other), undefined, other.slice(0, 40));
  }
});
