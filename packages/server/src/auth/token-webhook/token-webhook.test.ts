import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@hangar/api';
import { TokenWebhook } from './token-webhook.ts';

const asked: JsonObject[] = [];
const answering = (status: unknown): TokenWebhook =>
  new TokenWebhook(async (review) => {
    asked.push(review);
    return { kind: 'TokenReview', status };
  });

const jane = { username: 'jane', uid: '1', groups: ['a'], extra: { team: ['x'] } };

test('the other server is asked, and its word is taken', async () => {
  const identity = await answering({ authenticated: true, user: jane }).authenticateToken('secret', ['api']);
  assert.deepEqual(identity, { user: { name: 'jane', uid: '1', groups: ['a'], extra: { team: ['x'] } } });
  assert.deepEqual(asked.at(-1), {
    kind: 'TokenReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {},
    spec: { token: 'secret', audiences: ['api'] },
  });
});

test('who is not authenticated is nobody, with the reason that is given', async () => {
  assert.equal(await answering({ authenticated: false }).authenticateToken('t', ['api']), undefined);
  await assert.rejects(answering({ error: 'expired' }).authenticateToken('t', ['api']), /expired/);
});

test('audiences count when they are told', async () => {
  const told = (audiences: string[]) => answering({ authenticated: true, user: jane, audiences });
  assert.deepEqual((await told(['api', 'other']).authenticateToken('t', ['api']))?.audiences, ['api']);
  assert.equal(await told(['other']).authenticateToken('t', ['api']), undefined);
});

test('an invalid answer, or one without a user name, is refused', async () => {
  await assert.rejects(async () => answering(undefined).authenticateToken('t', ['api']), /not a TokenReview/);
  await assert.rejects(
    async () => answering({ authenticated: true }).authenticateToken('t', ['api']),
    /has no user name/,
  );
  const empty = { authenticated: true, user: { username: '' } };
  await assert.rejects(async () => answering(empty).authenticateToken('t', ['api']), /has no user name/);
  const broken = new TokenWebhook(() => Promise.reject(new Error('down')));
  await assert.rejects(broken.authenticateToken('t', ['api']), /down/);
});
