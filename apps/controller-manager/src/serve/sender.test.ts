import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Answer } from './answer.ts';
import { acceptsGzip, Sender } from './sender.ts';

test('gzip is for those who ask for it', () => {
  for (const header of ['gzip', 'GZIP', 'deflate, gzip;q=0.5', '*', 'br;q=1.0, gzip;q=0.8, *;q=0.1']) {
    assert.equal(acceptsGzip(header), true, header);
  }
  for (const header of [
    undefined,
    '',
    'identity',
    'gzip;q=0',
    'gzip; q=0.0, *',
    '*;q=0',
    'gzipped',
    ';;,,;q=',
    'gzip;q=x',
  ]) {
    assert.equal(acceptsGzip(header), false, String(header));
  }
});

/** Larger than all buffers on the way. */
const long = {
  byteLength: 16 * 1024 * 1024,
  chunks: () => Array.from({ length: 16 }, () => Buffer.alloc(1024 * 1024)),
};

async function running(sender: Sender, answer: Answer) {
  const sent: Promise<void>[] = [];
  const server = createServer((asked, response) => void sent.push(sender.send(asked, response, answer)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    sent,
    async ask(): Promise<IncomingMessage> {
      const asked = request({ port, host: '127.0.0.1', agent: false }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      return response;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      await Promise.all(sent);
    },
  };
}

async function lengthOf(response: IncomingMessage): Promise<number> {
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) length += chunk.length;
  return length;
}

test('long answers that are being read are bounded; there is room again when one was read', async () => {
  const sender = new Sender(systemClock, long.byteLength);
  await using server = await running(sender, { status: 200, headers: {}, body: long });
  const first = await server.ask();
  const refused = await server.ask();
  assert.equal(refused.statusCode, 503);
  assert.equal(refused.headers['retry-after'], '1');
  assert.ok((await lengthOf(refused)) < 1_000);
  assert.equal(await lengthOf(first), long.byteLength);
  await server.sent[0];
  assert.equal((await server.ask()).statusCode, 200);
});

test('who does not read is cut off', async () => {
  const hurried = {
    ...systemClock,
    after: (ms: number, callback: () => void) => systemClock.after(ms / 60, callback),
  };
  await using server = await running(new Sender(hurried), { status: 200, headers: {}, body: long });
  const response = await server.ask();
  // The client reads nothing: the server waits until the timeout.
  await server.sent[0];
  await assert.rejects(lengthOf(response), { code: 'ECONNRESET' });
});

test('who goes away leaves nothing behind', async () => {
  const sender = new Sender(systemClock, long.byteLength);
  await using server = await running(sender, { status: 200, headers: {}, body: long });
  (await server.ask()).destroy();
  await server.sent[0];
  const next = await server.ask();
  assert.equal(next.statusCode, 200);
  assert.equal(await lengthOf(next), long.byteLength);
});
