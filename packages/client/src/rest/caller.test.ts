import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import { ClientError } from '../errors.ts';
import { defineKind } from '../kind.ts';
import { RestMetrics } from './metrics.ts';
import type { RestOptions } from './options.ts';
import { RestClient } from './rest-client.ts';
import { ScriptedTransport } from './testing/scripted-transport.ts';

const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true });
const key = { namespace: 'default', name: 'one' };
const found = { body: { metadata: key } };
const busy = { status: 429, headers: { 'retry-after': '1' } };
const failed = new ClientError('ConnectionFailed', 'refused');
const lost = new ClientError('ConnectionLost', 'cut');

function world(script: ConstructorParameters<typeof ScriptedTransport>, options: RestOptions = {}) {
  const clock = virtualClock();
  const transport = new ScriptedTransport(...script);
  const client = new RestClient(transport, { clock, random: seededRandom(1), ...options });
  return { clock, transport, client };
}

describe('what is sent again', () => {
  const cases: readonly (readonly [what: string, status: number, retryAfter: string | undefined, isAgain: boolean])[] =
    [
      ['429 that says when', 429, '1', true],
      ['503 that says when', 503, '1', true],
      ['504 that says when', 504, '2', true],
      ['500 that says when', 500, '1', true],
      ['429 that does not say when, as of an eviction', 429, undefined, false],
      ['503 that does not say when', 503, undefined, false],
      ['409 whatever it says', 409, '1', false],
      ['429 that says much later', 429, '3600', false],
      ['429 that says nonsense', 429, 'soon', false],
      ['503 with a date', 503, 'Thu, 01 Jan 1970 00:00:05 GMT', true],
    ];
  for (const [what, status, retryAfter, isAgain] of cases) {
    test(`${what}: ${isAgain ? 'yes' : 'no'}`, async () => {
      const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
      const { clock, transport, client } = world([{ status, headers }, found]);
      const asked = clock.run(client.create(ConfigMap, { metadata: key }));
      if (isAgain) await asked;
      else await assert.rejects(asked);
      assert.equal(transport.requests.length, isAgain ? 2 : 1);
    });
  }

  test('it comes no earlier than the server said, and not everybody at once', async () => {
    const waits = new Set<number>();
    const random = seededRandom(7);
    for (let at = 0; at < 20; at++) {
      const { clock, client } = world([busy, found], { random });
      const begunMs = clock.monotonicMs();
      await clock.run(client.get(ConfigMap, key));
      const waitedMs = clock.monotonicMs() - begunMs;
      assert.ok(waitedMs >= 1_000 && waitedMs <= 1_250, `${waitedMs}`);
      waits.add(waitedMs);
    }
    assert.ok(waits.size > 15);
  });

  test('ten times a refusal, then it is the caller’s', async () => {
    const { clock, transport, client } = world([busy]);
    await assert.rejects(clock.run(client.get(ConfigMap, key)), { code: 'TooManyRequests' });
    assert.equal(transport.requests.length, 11);
  });

  test('a connection that failed: any verb; one that was lost: only reads', async () => {
    const writing = world([failed, found]);
    await writing.clock.run(writing.client.create(ConfigMap, { metadata: key }));
    assert.equal(writing.transport.requests.length, 2);
    const reading = world([lost, found]);
    await reading.clock.run(reading.client.get(ConfigMap, key));
    assert.equal(reading.transport.requests.length, 2);
    const lostWrite = world([lost, found]);
    await assert.rejects(lostWrite.clock.run(lostWrite.client.delete(ConfigMap, key)), { code: 'ConnectionLost' });
    assert.equal(lostWrite.transport.requests.length, 1);
  });

  test('a server that is away is asked five times within two seconds, then it is the caller’s', async () => {
    const { clock, transport, client } = world([failed]);
    const begunMs = clock.monotonicMs();
    await assert.rejects(clock.run(client.get(ConfigMap, key)), { code: 'ConnectionFailed' });
    assert.equal(transport.requests.length, 5);
    assert.ok(clock.monotonicMs() - begunMs <= 1_500);
  });

  test('nothing, where that was asked for', async () => {
    for (const said of [busy, failed]) {
      const { clock, transport, client } = world([said, found], { retry: false });
      await assert.rejects(clock.run(client.get(ConfigMap, key)));
      assert.equal(transport.requests.length, 1);
    }
  });

  test('a signal ends the wait, and is let go of', async () => {
    const { clock, client } = world([busy]);
    const stopping = new AbortController();
    const asked = client.get(ConfigMap, key, { signal: stopping.signal });
    await clock.settle();
    stopping.abort();
    await assert.rejects(asked, { code: 'Aborted' });
    assert.equal(getEventListeners(stopping.signal, 'abort').length, 0);
  });
});

test('a rate limit lets a burst through, then so many a second, in their order', async () => {
  const { clock, client } = world([found], { rateLimit: { perSecond: 10, burst: 5 } });
  const times: number[] = [];
  const begunMs = clock.monotonicMs();
  const asked = Array.from({ length: 15 }, () =>
    client.get(ConfigMap, key).then(() => times.push(clock.monotonicMs() - begunMs)),
  );
  await clock.run(Promise.all(asked));
  assert.equal(times.filter((ms) => ms === 0).length, 5);
  assert.equal(times.at(-1), 1_000);
  const stopping = new AbortController();
  for (let at = 0; at < 5; at++) void client.get(ConfigMap, key);
  const stopped = client.get(ConfigMap, key, { signal: stopping.signal });
  stopping.abort();
  await assert.rejects(stopped, { code: 'Aborted' });
});

test('warnings are told once each, whoever is warned', async () => {
  const told: string[] = [];
  const headers = { warning: '299 - "old \\"thing\\", gone", 299 - "other", 199 - "a cache"' };
  const { client } = world([{ ...found, headers }], { onWarning: (text) => told.push(text) });
  await client.get(ConfigMap, key);
  await client.get(ConfigMap, key);
  assert.deepEqual(told, ['old "thing", gone', 'other']);
});

test('every attempt is counted under the names of client-go', async () => {
  const metrics = new RestMetrics();
  const { clock, client } = world([busy, failed, found], { metrics });
  await clock.run(client.get(ConfigMap, key));
  const text = metrics.requests.text();
  assert.match(text, /rest_client_requests_total\{code="429",host="scripted",method="GET"\} 1/);
  assert.match(text, /rest_client_requests_total\{code="<error>",host="scripted",method="GET"\} 1/);
  assert.match(text, /rest_client_requests_total\{code="200",host="scripted",method="GET"\} 1/);
  assert.match(metrics.duration.text(), /rest_client_request_duration_seconds_count\{host="scripted",verb="GET"\} 3/);
});

test('who asks is said, how long the server may be silent, and how much and how long it may talk', async () => {
  const options = { userAgent: 'mine/1.0', timeoutMs: 5_000, answerTimeoutMs: 60_000, answerBytesMax: 1_000 };
  const { transport, client } = world([found], options);
  await client.get(ConfigMap, key);
  await client.raw({ method: 'GET', target: '/version', headers: { 'user-agent': 'other' } });
  await client.raw({ method: 'GET', target: '/log?follow=true', isLong: true });
  const [own, raw, followed] = transport.requests;
  assert.equal(followed!.silenceMs, undefined);
  assert.equal(own!.headers!['user-agent'], 'mine/1.0');
  assert.equal(own!.silenceMs, 5_000);
  assert.equal(own!.answerTimeoutMs, 60_000);
  assert.equal(own!.answerBytesMax, 1_000);
  assert.equal(followed!.answerTimeoutMs, undefined, 'for as long as anybody reads');
  assert.equal(raw!.headers!['user-agent'], 'other');
});

describe('answers that are none', () => {
  for (const body of ['<html>', '', 'null', '[]', '"text"', '{}', '{"metadata":null}']) {
    test(`${JSON.stringify(body)} for an object is MalformedAnswer`, async () => {
      await assert.rejects(world([{ body }]).client.get(ConfigMap, key), { code: 'MalformedAnswer' });
    });
  }
  for (const body of ['{}', '{"items":{}}', '{"items":[null]}', '{"items":[{}]}']) {
    test(`${body} for a list is MalformedAnswer`, async () => {
      await assert.rejects(world([{ body }]).client.list(ConfigMap), { code: 'MalformedAnswer' });
    });
  }

  test('a refusal that is no Status says what came', async () => {
    const { client } = world([{ status: 403, body: '<html>no' }]);
    await assert.rejects(client.get(ConfigMap, key), { code: 'Forbidden', message: '<html>no' });
    const empty = world([{ status: 502, body: '' }]);
    await assert.rejects(empty.client.get(ConfigMap, key), { code: 'InternalError', message: /502/ });
  });

  test('a list of nothing may be null', async () => {
    assert.deepEqual((await world([{ body: '{"items":null}' }]).client.list(ConfigMap)).items, []);
  });
});

test('keys that no object can have are refused before anything is asked', async () => {
  const { transport, client } = world([found]);
  const Node = defineKind({ apiVersion: 'v1', kind: 'Node', plural: 'nodes', isNamespaced: false });
  const { status } = client;
  const refused = { code: 'InvalidKey' };
  for (const name of ['', '.', '..', 'a/b', 'a%2fb', '../../secrets/x']) {
    await assert.rejects(client.get(ConfigMap, { namespace: 'default', name }), refused, name);
    await assert.rejects(client.delete(Node, { name }), refused, name);
  }
  for (const namespace of ['..', 'a/b', '%']) {
    await assert.rejects(client.list(ConfigMap, { namespace }), refused);
    await assert.rejects(async () => client.watch(ConfigMap, { namespace })[Symbol.asyncIterator]().next(), refused);
  }
  const draft = { metadata: { name: 'one' } };
  await assert.rejects(client.get(ConfigMap, { name: 'one' }), refused);
  await assert.rejects(client.create(ConfigMap, draft), refused);
  await assert.rejects(client.update(ConfigMap, draft), refused);
  await assert.rejects(client.apply(ConfigMap, draft, { fieldManager: 'me' }), refused);
  await assert.rejects(client.patch(ConfigMap, { name: 'one' }, { type: 'merge', body: {} }), refused);
  await assert.rejects(status.update(ConfigMap, draft), refused);
  await assert.rejects(client.update(ConfigMap, { metadata: { namespace: 'default' } }), refused);
  assert.equal(transport.requests.length, 0);
  await client.get(Node, { name: 'system:node:a b' });
  assert.equal(transport.requests[0]!.target, '/api/v1/nodes/system:node:a%20b');
});

test('a path that somebody on the way may take for another one is not asked for', async () => {
  const { transport, client } = world([found]);
  const odd = ['/../x', '/a/..', '/a/./b', '/%2e%2e/x', '/a%2F..%2fb', '/a/%252e%252e/b', '/a\\..\\b', '/a#b', 'x', ''];
  for (const target of odd) {
    await assert.rejects(client.raw({ method: 'GET', target }), { code: 'InvalidKey' }, target);
  }
  assert.equal(transport.requests.length, 0);
  for (const target of [
    '/version',
    '/',
    '/logs/..x/...?a=/../b',
    '/apis/x/v1/namespaces/n/services/s:80/proxy/a%20b/',
  ]) {
    await client.raw({ method: 'GET', target });
    assert.equal(transport.requests.pop()!.target, target);
  }
});

describe('all pages of a list', () => {
  const page = (names: readonly string[], next?: string) => ({
    body: { metadata: { resourceVersion: '7', continue: next }, items: names.map((name) => ({ metadata: { name } })) },
  });
  const expired = (next?: string) => ({
    status: 410,
    body: { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', metadata: { continue: next } },
  });
  const names = async (client: RestClient): Promise<string[]> => {
    const all: string[] = [];
    for await (const { metadata } of client.listAll(ConfigMap, { resourceVersion: '5' })) all.push(metadata.name!);
    return all;
  };

  test('are asked for one after the other, and what a token says is not said again', async () => {
    const { transport, client } = world([page(['a', 'b'], 'x'), page(['c'])]);
    assert.deepEqual(await names(client), ['a', 'b', 'c']);
    assert.match(transport.requests[0]!.target, /resourceVersion=5&limit=500$/);
    assert.match(transport.requests[1]!.target, /\?limit=500&continue=x$/);
  });

  test('go on with the token that the server offers for one that has expired', async () => {
    const { transport, client } = world([page(['a'], 'x'), expired('y'), page(['b'])]);
    assert.deepEqual(await names(client), ['a', 'b']);
    assert.match(transport.requests[2]!.target, /continue=y$/);
  });

  test('end with Expired where it offers none, or only that again and again', async () => {
    await assert.rejects(names(world([page(['a'], 'x'), expired()]).client), { code: 'Expired' });
    await assert.rejects(names(world([page(['a'], 'x'), expired('y')]).client), { code: 'Expired' });
  });
});
