import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unauthorized } from '@hangar/api';
import { seededRandom } from '@hangar/core';
import { virtualClock } from '../testing/test-server.ts';
import { BearerAuthenticator } from './bearer.ts';
import { TokenCache } from './token-cache.ts';
import type { TokenCacheOptions } from './token-cache.ts';
import { TokenUnion } from './tokens.ts';
import type { TokenAuthenticator, TokenIdentity } from './tokens.ts';

const random = seededRandom(1);
const identity = (name: string, rest: Partial<TokenIdentity> = {}): TokenIdentity => ({
  user: { name, uid: '', groups: [], extra: {} },
  ...rest,
});

/** Counts authentications of tokens. */
function counting(answer: (token: string) => TokenIdentity | undefined | Promise<TokenIdentity | undefined>) {
  const asked: string[] = [];
  const authenticator: TokenAuthenticator = {
    authenticateToken(token) {
      asked.push(token);
      return answer(token);
    },
  };
  return { asked, union: new TokenUnion([authenticator], ['api']) };
}

const cacheOf = (union: TokenUnion, clock = virtualClock(), rest: Partial<TokenCacheOptions> = {}): TokenCache =>
  new TokenCache(union, { clock, random, ...rest });

test('a token is verified once in ten seconds, for each audience', async () => {
  const clock = virtualClock();
  const { asked, union } = counting((token) => (token === 'good' ? identity('jane') : undefined));
  const cache = cacheOf(union, clock);
  const ask = async (audience = 'api') => (await cache.authenticateToken('good', [audience]))?.user.name;
  assert.equal(await ask(), 'jane');
  assert.equal(await ask(), 'jane');
  await clock.advance(9_999);
  assert.equal(await ask(), 'jane');
  assert.equal(asked.length, 1);
  assert.equal(await ask('other'), undefined);
  await clock.advance(1);
  assert.equal(await ask(), 'jane');
  assert.equal(asked.length, 3);
});

test('what was refused is asked again, unless told otherwise', async () => {
  const refusing = () => counting((token) => (token === 'odd' ? undefined : Promise.reject(unauthorized('why'))));
  for (const [failureMs, expected] of [
    [0, 4],
    [1_000, 2],
  ] as const) {
    const { asked, union } = refusing();
    const cache = cacheOf(union, virtualClock(), { failureMs });
    for (let times = 0; times < 2; times++) {
      assert.equal(await cache.authenticateToken('odd', ['api']), undefined);
      await assert.rejects(async () => cache.authenticateToken('bad', ['api']), {
        code: 'Unauthorized',
        message: 'why',
      });
    }
    assert.equal(asked.length, expected);
  }
});

test('a token that many show at once is verified once', async () => {
  const { asked, union } = counting(() => new Promise((resolve) => queueMicrotask(() => resolve(identity('jane')))));
  const cache = cacheOf(union);
  const all = await Promise.all(Array.from({ length: 50 }, () => cache.authenticateToken('t', ['api'])));
  assert.deepEqual(new Set(all.map((one) => one?.user.name)), new Set(['jane']));
  assert.equal(asked.length, 1);
});

test('nothing is remembered longer than the token lives, or than it holds', async () => {
  const clock = virtualClock();
  let isCurrent = true;
  const { asked, union } = counting(() =>
    identity('jane', { expiresAt: clock.now() + 500, isCurrent: () => isCurrent }),
  );
  const cache = cacheOf(union, clock);
  const ask = () => cache.authenticateToken('t', ['api']);
  void ask();
  void ask();
  assert.equal(asked.length, 1);
  await clock.advance(500);
  void ask();
  assert.equal(asked.length, 2);
  isCurrent = false;
  void ask();
  assert.equal(asked.length, 3);
});

test('the oldest go when there are too many', () => {
  const { asked, union } = counting((token) => identity(token));
  const cache = cacheOf(union, virtualClock(), { entriesMax: 2 });
  for (const token of ['a', 'b', 'c', 'c', 'b', 'a']) void cache.authenticateToken(token, ['api']);
  assert.deepEqual(asked, ['a', 'b', 'c', 'a']);
});

test('all authenticators are asked, and their reasons are told together', async () => {
  const says = (outcome: TokenIdentity | Error | undefined): TokenAuthenticator => ({
    authenticateToken: () => (outcome instanceof Error ? Promise.reject(outcome) : outcome),
  });
  const ask = async (...all: (TokenIdentity | Error | undefined)[]) =>
    new TokenUnion(all.map(says), ['api']).authenticateToken('t', ['api']);
  assert.equal(await ask(), undefined);
  assert.equal((await ask(undefined, unauthorized('no'), identity('jane')))?.user.name, 'jane');
  await assert.rejects(ask(unauthorized('a'), undefined, unauthorized('b'), unauthorized('a')), { message: 'a, b' });
  await assert.rejects(ask(unauthorized('a'), new Error('the store is gone')), { message: 'the store is gone' });
  assert.deepEqual((await ask(identity('jane')))?.user.groups, ['system:authenticated']);
});

test('what a connection showed counts for it as long as for others', async () => {
  const clock = virtualClock();
  let isCurrent = true;
  const { asked, union } = counting((token) =>
    token === 'bad' ? undefined : identity(token, { isCurrent: () => isCurrent }),
  );
  const bearer = new BearerAuthenticator(cacheOf(union, clock), ['api']);
  const peer = { address: '', certificate: undefined };
  const show = async (token: string, from = peer) =>
    (
      await bearer.authenticate({
        method: 'GET',
        target: '/',
        peer: from,
        header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
        headerValues: () => [],
        headerNames: () => ['authorization'],
        body: () => Promise.resolve(new Uint8Array()),
      })
    )?.name;
  assert.equal(await show('a'), 'a');
  assert.equal(await show('b'), 'b');
  assert.equal(await show('bad'), undefined);
  assert.equal(await show('a'), 'a');
  assert.equal(await show('a', { ...peer }), 'a');
  assert.deepEqual(asked, ['a', 'b', 'bad']);
  await clock.advance(10_000);
  assert.equal(await show('a'), 'a');
  assert.deepEqual(asked.splice(0), ['a', 'b', 'bad', 'a']);
  isCurrent = false;
  assert.equal(await show('a'), 'a');
  assert.deepEqual(asked, ['a']);
});

test('a token that a connection shows again costs less than five microseconds', () => {
  const { union } = counting(() => identity('jane', { isCurrent: () => true }));
  const bearer = new BearerAuthenticator(cacheOf(union), ['api']);
  const peer = { address: '', certificate: undefined };
  const authorization = `Bearer ${'x'.repeat(1_000)}`;
  const request = {
    method: 'GET',
    target: '/',
    peer,
    // As from a socket: a new string each time.
    header: () => Buffer.from(authorization).toString(),
    headerValues: () => [],
    headerNames: () => [],
    body: () => Promise.resolve(new Uint8Array()),
  };
  const count = 20_000;
  const cpuMicros = (): number => {
    const before = process.cpuUsage();
    for (let i = 0; i < count; i++) void bearer.authenticate(request);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / count;
  };
  cpuMicros();
  assert.ok(Math.min(cpuMicros(), cpuMicros(), cpuMicros()) < 5);
});
