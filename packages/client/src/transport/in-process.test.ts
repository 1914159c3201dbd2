import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { virtualClock } from '@hangar/testkit';
import { InProcessTransport } from './in-process.ts';
import type { InProcessAnswer, InProcessSink } from './in-process.ts';

const get = { method: 'GET', target: '/' } as const;

/** A server with a streamed response that the test writes. */
function streaming() {
  const started = Promise.withResolvers<InProcessSink>();
  const body = { start: (sink: InProcessSink) => started.resolve(sink) };
  const transport = new InProcessTransport({
    handler: () => Promise.resolve({ status: 200, headers: {}, body } satisfies InProcessAnswer),
  });
  return { transport, sink: started.promise };
}

test('a signal ends a request that the server never answers, and is let go of', async () => {
  const transport = new InProcessTransport({ handler: () => new Promise(() => {}) });
  const stopping = new AbortController();
  const asked = transport.request({ ...get, signal: stopping.signal });
  stopping.abort();
  await assert.rejects(asked, { code: 'Aborted' });
  assert.equal(getEventListeners(stopping.signal, 'abort').length, 0);
});

test('a server that never answers is TimedOut in time that a test moves', async () => {
  const clock = virtualClock();
  const transport = new InProcessTransport({ handler: () => new Promise(() => {}), clock });
  const asked = assert.rejects(transport.request({ ...get, silenceMs: 60_000 }), { code: 'TimedOut' });
  await clock.advance(59_999);
  await clock.advance(1);
  await asked;
});

test('what the server throws is the error of the request', async () => {
  const transport = new InProcessTransport({ handler: () => Promise.reject(new Error('broken')) });
  await assert.rejects(transport.request(get), /broken/);
});

test('the server is told to wait for a slow reader, to go on when it has read, and when it has left', async () => {
  const { transport, sink } = streaming();
  const chunks = (await transport.request(get)).stream()[Symbol.asyncIterator]();
  const server = await sink;
  let [drained, closed] = [0, 0];
  server.onDrain(() => drained++);
  server.onClose(() => closed++);
  const piece = new Uint8Array(400_000);
  assert.deepEqual([server.write(piece), server.write(piece), server.write(piece)], [true, true, false]);
  await chunks.next();
  assert.equal(drained, 1);
  await chunks.return?.();
  assert.equal(closed, 1);
  assert.equal(server.write(piece), false);
});

test('closing breaks off what is under way and begins nothing', async () => {
  const { transport, sink } = streaming();
  const reading = (await transport.request(get)).body();
  await sink;
  await transport.close();
  await assert.rejects(reading, { code: 'ConnectionLost' });
  await assert.rejects(transport.request(get), { code: 'ConnectionFailed' });
});
