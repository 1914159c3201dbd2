import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { WatchEvent } from '../client.ts';
import { ClientError } from '../errors.ts';
import type { ApiObject } from '../kind.ts';
import { Exchange } from '../transport/exchange.ts';
import { WatchEvents } from './events.ts';
import { LineSplitter } from './lines.ts';

const added = (name: string): string => `${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`;

/** A watch with the test as its server. */
function world() {
  let cancelled = 0;
  const stopping = new AbortController();
  let server: Exchange | undefined;
  const opened = Promise.withResolvers<Exchange>();
  const events = new WatchEvents<ApiObject>({
    signal: stopping.signal,
    restore: (object) => object,
    open(signal) {
      server = new Exchange({ signal }, systemClock);
      server.begin({ cancel: () => cancelled++ });
      opened.resolve(server);
      return server.answered;
    },
  });
  return {
    events,
    stopping,
    opened: opened.promise,
    cancelled: () => cancelled,
    async say(text: string) {
      const one = await opened.promise;
      one.head(200, () => undefined);
      one.data(Buffer.from(text));
    },
  };
}

const nameOf = ({ value }: IteratorResult<WatchEvent<ApiObject>, void>): string | undefined =>
  value && 'object' in value ? value.object.metadata.name : undefined;

test('events come in their order, in whatever pieces, to however many who ask at once', async () => {
  const { events, opened } = world();
  const asked = [events.next(), events.next(), events.next()];
  const server = await opened;
  server.head(200, () => undefined);
  for (const byte of Buffer.from(`${added('ä')}\n${added('b')}${added('c')}`)) server.data(Buffer.from([byte]));
  assert.deepEqual((await Promise.all(asked)).map(nameOf), ['ä', 'b', 'c']);
  server.end();
  assert.equal((await events.next()).done, true);
  assert.equal((await events.next()).done, true);
});

test('leaving while an event is waited for ends the request at once', async () => {
  const { events, opened, stopping, cancelled } = world();
  const asked = events.next();
  (await opened).head(200, () => undefined);
  await new Promise(setImmediate);
  await events.return();
  assert.equal((await asked).done, true);
  assert.equal(cancelled(), 1);
  assert.equal(getEventListeners(stopping.signal, 'abort').length, 0);
});

test('leaving before the answer begins ends the request, too', async () => {
  const { events, opened, cancelled } = world();
  const asked = events.next();
  await opened;
  await events.return();
  assert.equal((await asked).done, true);
  assert.equal(cancelled(), 1);
});

test('a signal ends it with Aborted, also with events that nobody has read', async () => {
  const { events, say, stopping, cancelled } = world();
  const first = events.next();
  await say(added('a') + added('b'));
  assert.equal(nameOf(await first), 'a');
  stopping.abort();
  await assert.rejects(events.next(), { code: 'Aborted' });
  assert.equal((await events.next()).done, true);
  assert.equal(cancelled(), 1);
  assert.equal(getEventListeners(stopping.signal, 'abort').length, 0);
});

test('a signal that was given before anything was asked opens nothing', async () => {
  const { events, stopping } = world();
  stopping.abort();
  await assert.rejects(events.next(), { code: 'Aborted' });
});

test('a connection that breaks is ConnectionLost, after the events that came', async () => {
  const { events, opened, say } = world();
  const first = events.next();
  await say(added('a') + added('b'));
  (await opened).fail(new ClientError('ConnectionLost', 'cut'));
  assert.deepEqual([nameOf(await first), nameOf(await events.next())], ['a', 'b']);
  await assert.rejects(events.next(), { code: 'ConnectionLost' });
});

describe('what is no event', () => {
  const cases: readonly (readonly [what: string, line: string, code: string])[] = [
    ['no JSON', 'garbage\n', 'MalformedAnswer'],
    ['null', 'null\n', 'MalformedAnswer'],
    ['an unknown type', '{"type":"NEW","object":{"metadata":{}}}\n', 'MalformedAnswer'],
    ['without an object', '{"type":"ADDED"}\n', 'MalformedAnswer'],
    ['an object without metadata', '{"type":"ADDED","object":{}}\n', 'MalformedAnswer'],
    ['a bookmark of nothing', '{"type":"BOOKMARK","object":null}\n', 'MalformedAnswer'],
    ['an error', '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n', 'Expired'],
    ['an error without a reason', '{"type":"ERROR","object":{"code":410}}\n', 'Expired'],
  ];
  for (const [what, line, code] of cases) {
    test(`${what} is ${code}, and ends the request`, async () => {
      const { events, say, cancelled } = world();
      const asked = events.next();
      await say(line);
      await assert.rejects(asked, { code });
      assert.equal(cancelled(), 1);
      assert.equal((await events.next()).done, true);
    });
  }

  test('an end inside of an event is MalformedAnswer; one behind it is none', async () => {
    for (const [text, isWhole] of [
      [added('a').trim(), true],
      [added('a').slice(0, 20), false],
    ] as const) {
      const { events, opened, say } = world();
      const asked = events.next();
      await say(text);
      (await opened).end();
      if (isWhole) assert.equal(nameOf(await asked), 'a');
      else await assert.rejects(asked, { code: 'MalformedAnswer' });
    }
  });
});

test('a bookmark says up to where, and whether it is the end of what existed', async () => {
  const { events, say } = world();
  const asked = events.next();
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  await say(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations } } })}\n`);
  assert.deepEqual((await asked).value, { type: 'BOOKMARK', resourceVersion: '9', isInitialEventsEnd: true });
  const next = events.next();
  const object = { metadata: { resourceVersion: '10', annotations: { 'example.com/note': 'x' } } };
  await say(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  assert.deepEqual((await next).value, {
    type: 'BOOKMARK',
    resourceVersion: '10',
    isInitialEventsEnd: false,
    annotations: { 'example.com/note': 'x' },
  });
});

test('a line that does not end is given up before it fills the memory', () => {
  const splitter = new LineSplitter(1_000);
  assert.throws(
    () => {
      for (;;) splitter.push(Buffer.alloc(100, 'x'));
    },
    { code: 'MalformedAnswer' },
  );
});
