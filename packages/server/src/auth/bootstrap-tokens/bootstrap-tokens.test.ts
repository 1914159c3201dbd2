import assert from 'node:assert/strict';
import { test } from 'node:test';
import { privilegedGroup } from '../authorize.ts';
import type { Authorizer } from '../authorize.ts';
import { review, whoIs } from '../service-accounts/testing.ts';
import { TestServer, virtualClock } from '../../testing/test-server.ts';

const secrets = '/api/v1/namespaces/kube-system/secrets';
const anyone: Authorizer = { authorize: () => 'allow' };
const start = (clock = virtualClock()): Promise<TestServer> =>
  TestServer.start({ clock, authorizers: [privilegedGroup, anyone] });

const [id, secret] = ['abcdef', '0123456789abcdef'];
const token = `${id}.${secret}`;
const good = { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true' };

const secretWith = (stringData: object, rest: object = {}): object => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: `bootstrap-token-${id}` },
  type: 'bootstrap.kubernetes.io/token',
  stringData,
  ...rest,
});

test('a bootstrap token is its bootstrapper, until its time or its secret ends', async () => {
  const clock = virtualClock();
  await using server = await start(clock);
  const expiration = new Date(clock.now() + 3_600_000).toISOString();
  const groups = 'system:bootstrappers:workers,system:bootstrappers:a';
  await server.create(secrets, secretWith({ ...good, expiration, 'auth-extra-groups': groups }));
  const user = {
    username: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:workers', 'system:authenticated'],
  };
  assert.deepEqual(await whoIs(server, token), user);
  assert.deepEqual((await review(server, token)).user, user);
  await clock.advance(3_599_000);
  assert.deepEqual(await whoIs(server, token), user);
  await clock.advance(1_000);
  assert.equal(await whoIs(server, token), undefined);
  await server.merge(`${secrets}/bootstrap-token-${id}`, { stringData: { expiration: '' } });
  assert.deepEqual(await whoIs(server, token), user);
  await server.remove(`${secrets}/bootstrap-token-${id}`);
  await server.until('the token ends', async () => (await whoIs(server, token)) === undefined);
});

test('what is not a whole bootstrap token is none', async () => {
  await using server = await start();
  const cases: readonly [what: string, secret: object][] = [
    ['another secret', secretWith({ ...good, 'token-secret': 'fedcba9876543210' })],
    ['another id', secretWith({ ...good, 'token-id': 'fedcba' })],
    ['not for authentication', secretWith({ ...good, 'usage-bootstrap-authentication': 'True' })],
    ['expired', secretWith({ ...good, expiration: '2001-01-01T00:00:00Z' })],
    ['an expiry that is no time', secretWith({ ...good, expiration: 'soon' })],
    ['a group of administrators', secretWith({ ...good, 'auth-extra-groups': 'system:masters' })],
    ['a group behind a line', secretWith({ ...good, 'auth-extra-groups': 'system:bootstrappers:a\nsystem:masters' })],
    ['another type', secretWith(good, { type: 'Opaque' })],
  ];
  for (const [what, body] of cases) {
    const created = await server.request('POST', secrets, { body });
    if (created.status !== 201) continue;
    assert.equal(await whoIs(server, token), undefined, what);
    await server.remove(`${secrets}/bootstrap-token-${id}`);
  }
  for (const other of ['abcdef', 'abcdef.', '../../x.0123456789abcdef', 'ABCDEF.0123456789abcdef', `${token}\n`]) {
    assert.equal(await whoIs(server, other), undefined, other);
  }
});

test('a bootstrap token lives in kube-system only', async () => {
  await using server = await start();
  await server.create('/api/v1/namespaces/default/secrets', secretWith(good));
  assert.equal(await whoIs(server, token), undefined);
});
