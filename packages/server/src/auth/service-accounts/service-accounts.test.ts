import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { decodeProtobuf, encodeProtobuf, protobufMediaType } from '@hangar/api';
import { privilegedGroup } from '../authorize.ts';
import type { Authorizer } from '../authorize.ts';
import { signJwt } from '../jwt/jwt.ts';
import { newTokenKey, testIssuer } from '../../testing/authentication.ts';
import { TestServer, virtualClock } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { signingKeyOf, verificationKeysOf } from './keys.ts';
import {
  accounts,
  createAccount,
  partsOf,
  pod,
  requestToken,
  review,
  tokenOf,
  tokenReviews,
  whoIs,
} from './testing.ts';

const anyone: Authorizer = { authorize: () => 'allow' };
const start = (options: Parameters<typeof TestServer.start>[0] = {}): Promise<TestServer> =>
  TestServer.start({ authorizers: [privilegedGroup, anyone], ...options });
const pods = '/api/v1/namespaces/default/pods';
const secrets = '/api/v1/namespaces/default/secrets';

describe('a token that was requested', () => {
  test('says whose it is, for whom and until when', async () => {
    const clock = virtualClock();
    await using server = await start({ clock });
    const { metadata } = await createAccount(server);
    const answer = await requestToken(server, { audiences: ['a', 'b'], expirationSeconds: 700 });
    assert.equal(answer.kind, 'TokenRequest');
    assert.deepEqual(answer.spec, { audiences: ['a', 'b'], expirationSeconds: 700, boundObjectRef: null });
    const now = Math.floor(clock.now() / 1_000);
    assert.equal(Date.parse(answer.status.expirationTimestamp), (now + 700) * 1_000);
    const [head, { jti, ...claims }] = partsOf(answer.status.token);
    assert.equal(head['alg'], 'ES256');
    assert.match(jti as string, /^[\da-f-]{36}$/);
    assert.deepEqual(claims, {
      aud: ['a', 'b'],
      exp: now + 700,
      iat: now,
      iss: testIssuer,
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid: metadata.uid } },
      nbf: now,
      sub: 'system:serviceaccount:default:robot',
    });
  });

  test('is its account, with the groups of all accounts and of its namespace', async () => {
    await using server = await start();
    const { metadata } = await createAccount(server);
    const token = await tokenOf(server);
    const user = await whoIs(server, token);
    assert.deepEqual(user, {
      username: 'system:serviceaccount:default:robot',
      uid: metadata.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${String(partsOf(token)[1]['jti'])}`] },
    });
    const { authenticated, audiences, user: reviewed } = await review(server, token);
    assert.deepEqual([authenticated, audiences, reviewed], [true, [testIssuer], user]);
  });

  test('is checked for what it asks', async () => {
    await using server = await start({ serviceAccounts: { expirationSecondsMax: 3_600 } });
    await createAccount(server);
    const ask = (spec: object, metadata: object = {}) =>
      server.request('POST', `${accounts}/robot/token`, { body: { metadata, spec } });
    assert.match(
      (await ask({ expirationSeconds: 599 })).data.message,
      /may not specify a duration less than 10 minutes/,
    );
    assert.match((await ask({ expirationSeconds: 2 ** 32 + 1 })).data.message, /larger than 2\^32 seconds/);
    assert.equal((await ask({}, { uid: 'another' })).status, 409);
    assert.equal((await ask({}, { name: 'another' })).status, 422);
    assert.equal((await ask({ boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'absent' } })).status, 404);
    assert.equal((await ask({ boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'a' } })).status, 400);
    const shortened = await ask({ expirationSeconds: 7_200 });
    assert.equal(shortened.data.spec.expirationSeconds, 3_600);
    assert.match(String(shortened.headers['warning']), /expiration of 7200 seconds shortened to 3600 seconds/);
    await server.expect(404, 'POST', `${accounts}/nobody/token`, { body: {} });
  });

  test('is asked for and answered in protobuf, as controllers do', async () => {
    await using server = await start();
    await createAccount(server);
    const type = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1' };
    const { status, bytes } = await server.request('POST', `${accounts}/robot/token`, {
      body: encodeProtobuf({ ...type, metadata: {}, spec: { audiences: ['a'], expirationSeconds: 700 } }),
      contentType: protobufMediaType,
      accept: protobufMediaType,
    });
    assert.equal(status, 201);
    const answer = decodeProtobuf(bytes) as unknown as Data;
    assert.deepEqual([answer.kind, answer.spec.audiences], ['TokenRequest', ['a']]);
    assert.deepEqual(partsOf(answer.status.token)[1]['aud'], ['a']);
  });

  test('needs the right to ask for it', async () => {
    await using server = await TestServer.start({ tokens: [{ token: 'jane', user: 'jane' }] });
    await createAccount(server);
    const refused = await server.expect(403, 'POST', `${accounts}/robot/token`, { token: 'jane', body: {} });
    assert.match(refused.message, /cannot create resource "serviceaccounts\/token"/);
  });

  test('of a pod lives a year when it asks as projected volumes do, and says from when on it is old', async () => {
    const clock = virtualClock();
    await using server = await start({ clock });
    await createAccount(server);
    await server.create(pods, pod('web', 'robot'));
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'web' };
    const { status } = await requestToken(server, { expirationSeconds: 3_607, boundObjectRef });
    const now = Math.floor(clock.now() / 1_000);
    assert.equal(Date.parse(status.expirationTimestamp), (now + 3_607) * 1_000);
    const [, claims] = partsOf(status.token);
    assert.equal(claims['exp'], now + 365 * 86_400);
    assert.equal((claims['kubernetes.io'] as { warnafter: number }).warnafter, now + 3_607);
  });
});

describe('a bound token', () => {
  test('names its pod and node, and ends with the pod', async () => {
    await using server = await start();
    await createAccount(server);
    const node = await server.create('/api/v1/nodes', { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n1' } });
    const { metadata } = await server.create(pods, pod('web', 'robot', 'n1'));
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: metadata.uid };
    const token = await tokenOf(server, { boundObjectRef });
    const { extra } = await whoIs(server, token);
    const prefix = 'authentication.kubernetes.io';
    assert.deepEqual(extra[`${prefix}/pod-name`], ['web']);
    assert.deepEqual(extra[`${prefix}/pod-uid`], [metadata.uid]);
    assert.deepEqual(extra[`${prefix}/node-name`], ['n1']);
    assert.deepEqual(extra[`${prefix}/node-uid`], [node.metadata.uid]);
    await server.remove(`${pods}/web`, { gracePeriodSeconds: 0 });
    await server.until('the token ends', async () => (await whoIs(server, token)) === undefined);
    await server.create(pods, pod('web', 'robot', 'n1'));
    assert.equal(await whoIs(server, token), undefined);
  });

  test('ends with its secret', async () => {
    await using server = await start();
    await createAccount(server);
    await server.create(secrets, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's' } });
    const token = await tokenOf(server, { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } });
    assert.ok(await whoIs(server, token));
    await server.remove(`${secrets}/s`);
    await server.until('the token ends', async () => (await whoIs(server, token)) === undefined);
    assert.equal(
      (await review(server, token)).error,
      '[invalid bearer token, service account token has been invalidated]',
    );
  });

  test('is not issued for a pod of another account, or one that was made anew', async () => {
    await using server = await start();
    await createAccount(server);
    await createAccount(server, 'another');
    await server.create(pods, pod('web', 'another'));
    const ask = (rest: object) =>
      server.request('POST', `${accounts}/robot/token`, { body: { spec: { boundObjectRef: rest } } });
    const other = await ask({ kind: 'Pod', apiVersion: 'v1', name: 'web' });
    assert.match(other.data.message, /to pod running with different serviceaccount name/);
    await server.create(secrets, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's' } });
    assert.equal((await ask({ kind: 'Secret', apiVersion: 'v1', name: 's', uid: 'old' })).status, 409);
  });
});

test('a key is replaced while tokens of the old one are in use', async () => {
  const [old, next] = [newTokenKey(), newTokenKey()];
  await using server = await start({
    serviceAccounts: {
      signingKey: signingKeyOf(next),
      verificationKeys: [...verificationKeysOf(old), ...verificationKeysOf(next)],
    },
  });
  await createAccount(server);
  const token = await tokenOf(server);
  const [, claims] = partsOf(token);
  assert.ok(await whoIs(server, token));
  assert.ok(await whoIs(server, signJwt(claims, signingKeyOf(old))));
  assert.equal(await whoIs(server, signJwt(claims, signingKeyOf(newTokenKey()))), undefined);
});

test('tokens are for the audiences that they name', async () => {
  await using server = await start();
  await createAccount(server);
  const token = await tokenOf(server, { audiences: ['vault'] });
  assert.equal(await whoIs(server, token), undefined);
  assert.equal((await review(server, token)).authenticated, undefined);
  const reviewed = await review(server, token, ['other', 'vault']);
  assert.deepEqual([reviewed.authenticated, reviewed.audiences], [true, ['vault']]);
  // A static token is only for the API server.
  assert.equal((await review(server, 'admin', ['vault'])).authenticated, undefined);
});

test('a token of a secret counts for as long as the secret has it', async () => {
  const pem = newTokenKey();
  const signingKey = signingKeyOf(pem);
  await using server = await start({ serviceAccounts: { signingKey, verificationKeys: verificationKeysOf(pem) } });
  const { metadata } = await createAccount(server);
  const own = 'kubernetes.io/serviceaccount/';
  const claims = {
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:default:robot',
    [`${own}namespace`]: 'default',
    [`${own}secret.name`]: 'robot-token',
    [`${own}service-account.name`]: 'robot',
    [`${own}service-account.uid`]: metadata.uid,
  };
  const token = signJwt(claims, signingKey);
  assert.equal((await review(server, token)).error, '[invalid bearer token, Token has been invalidated]');
  const secret = {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 'robot-token', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    type: 'kubernetes.io/service-account-token',
    stringData: { token },
  };
  await server.create(secrets, secret);
  const { store } = server.plane;
  const commit = mock.method(store, 'commit', () => Promise.reject(new Error('the store is full')));
  assert.ok(await whoIs(server, token), 'also when its use cannot be noted');
  assert.ok(commit.mock.callCount() > 0);
  commit.mock.restore();
  await server.merge(`${secrets}/robot-token`, { metadata: { annotations: { a: 'b' } } });
  await server.until('the use is noted', async () => {
    await whoIs(server, token);
    return (await server.get(`${secrets}/robot-token`)).metadata.labels !== undefined;
  });
  const user = await whoIs(server, token);
  assert.deepEqual([user.username, user.extra], ['system:serviceaccount:default:robot', undefined]);
  const { metadata: used } = await server.get(`${secrets}/robot-token`);
  assert.equal(used.labels['kubernetes.io/legacy-token-last-used'], new Date().toISOString().slice(0, 10));
  assert.equal(await whoIs(server, signJwt({ ...claims, more: 1 }, signingKey)), undefined);
  await server.merge(`${secrets}/robot-token`, {
    metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': 'x' } },
  });
  await server.until('the mark is seen', async () => (await whoIs(server, token)) === undefined);
  assert.match((await review(server, token)).error, /has been marked invalid/);
  await server.remove(`${secrets}/robot-token`);
  await server.until('the token ends', async () => (await whoIs(server, token)) === undefined);
});

test('others can verify tokens by the published keys', async () => {
  await using server = await start();
  await createAccount(server);
  const found = await server.request('GET', '/.well-known/openid-configuration');
  assert.equal(found.headers['content-type'], 'application/json');
  assert.deepEqual(found.data, {
    issuer: testIssuer,
    jwks_uri: 'https://127.0.0.1:6443/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  });
  const keys = await server.request('GET', '/openid/v1/jwks', { accept: '*/*' });
  assert.equal(keys.headers['content-type'], 'application/jwk-set+json');
  const [key] = keys.data.keys;
  assert.deepEqual(Object.keys(key), ['use', 'kty', 'kid', 'crv', 'alg', 'x', 'y']);
  assert.equal(key.kid, partsOf(await tokenOf(server))[0]['kid']);
  assert.equal(key.d, undefined);
  await server.expect(401, 'GET', '/openid/v1/jwks', { token: null });
});

test('a review without a token is refused', async () => {
  await using server = await start();
  await server.expect(400, 'POST', tokenReviews, { body: { spec: {} } });
});
