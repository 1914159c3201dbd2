import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { virtualClock } from '@hangar/testkit';
import type { HttpRequest } from './contract.ts';
import { Exchange } from './exchange.ts';
import { get, http1Server, http2Server, transportTo, until } from './testing/servers.ts';

const mebibyte = Buffer.alloc(1024 * 1024, ' ');

/** A request with a response, and whether its carrier was cancelled. */
function answered(request: Omit<HttpRequest, 'method' | 'target'>, status = 200) {
  const clock = virtualClock();
  const exchange = new Exchange(request, clock);
  const told = { cancelled: 0, consumed: 0 };
  exchange.begin({ cancel: () => told.cancelled++, consumed: (bytes) => (told.consumed += bytes) });
  exchange.head(status, () => undefined);
  return { clock, exchange, told };
}

describe('an answer that is read whole', () => {
  test('is as long as it may be, and not a byte longer', async () => {
    const exact = answered({ answerBytesMax: 10 });
    const reading = exact.exchange.body();
    exact.exchange.data(Buffer.from('01234'));
    exact.exchange.data(Buffer.from('56789'));
    exact.exchange.end();
    assert.equal((await reading).toString(), '0123456789');

    const longer = answered({ answerBytesMax: 10 });
    const refused = assert.rejects(longer.exchange.body(), {
      code: 'MalformedAnswer',
      message: /larger than 10 bytes/,
    });
    longer.exchange.data(Buffer.from('0123456789'));
    assert.equal(longer.told.cancelled, 0);
    longer.exchange.data(Buffer.from('x'));
    await refused;
    assert.deepEqual(longer.told, { cancelled: 1, consumed: 10 });
  });

  test('is also refused when all of it had come before anybody read', async () => {
    for (const isEnded of [true, false]) {
      const { exchange, told } = answered({ answerBytesMax: 10 });
      exchange.data(Buffer.alloc(11));
      if (isEnded) exchange.end();
      await assert.rejects(exchange.body(), { code: 'MalformedAnswer' });
      assert.equal(told.cancelled, isEnded ? 0 : 1);
    }
  });

  test('may be long, but not when it is a refusal', async () => {
    const { exchange } = answered({}, 500);
    const refused = assert.rejects(exchange.body(), { code: 'MalformedAnswer', message: /larger than 1048576 bytes/ });
    exchange.data(mebibyte);
    exchange.data(Buffer.from('x'));
    await refused;
    const well = answered({});
    const reading = well.exchange.body();
    for (let i = 0; i < 3; i++) well.exchange.data(mebibyte);
    well.exchange.end();
    assert.equal((await reading).length, 3 * mebibyte.length);
  });

  test('is not bounded when it is read in pieces: only what is not read yet takes room', async () => {
    const { exchange } = answered({ answerBytesMax: 10 });
    exchange.data(Buffer.alloc(11));
    exchange.end();
    assert.equal((await Array.fromAsync(exchange.stream())).length, 1);
  });
});

describe('bytes that trickle', () => {
  for (const how of ['whole', 'in pieces'] as const) {
    test(`do not keep an answer that is read ${how} from ending`, async () => {
      const { clock, exchange, told } = answered({ silenceMs: 1_000, answerTimeoutMs: 5_500 });
      const reading = how === 'whole' ? exchange.body() : Array.fromAsync(exchange.stream());
      const ended = assert.rejects(reading, { code: 'TimedOut', message: /not complete after 5500 ms/ });
      for (let i = 0; i < 5; i++) {
        await clock.advance(900);
        exchange.data(Buffer.from('x'));
      }
      assert.equal(told.cancelled, 0);
      await clock.advance(900);
      exchange.data(Buffer.from('x'));
      await clock.advance(100);
      await ended;
      assert.equal(told.cancelled, 1);
    });
  }

  test('keep one going that may take as long as it likes', async () => {
    const { clock, exchange, told } = answered({ silenceMs: 1_000 });
    const reading = exchange.body();
    for (let i = 0; i < 2_000; i++) {
      await clock.advance(900);
      exchange.data(Buffer.from('x'));
    }
    exchange.end();
    assert.equal((await reading).length, 2_000);
    assert.equal(told.cancelled, 0);
  });

  test('are bounded without a bound of silence, too, and also when nobody reads', async () => {
    const { clock, exchange, told } = answered({ answerTimeoutMs: 5_000 });
    await clock.advance(5_000);
    assert.equal(told.cancelled, 1);
    await assert.rejects(exchange.body(), { code: 'TimedOut' });
  });
});

/** Writes without end, until the connection closes. */
interface Sink {
  write(chunk: Uint8Array): boolean;
  once(event: 'drain', callback: () => void): unknown;
  readonly destroyed: boolean;
}
function pour(sink: Sink): void {
  while (!sink.destroyed) if (!sink.write(mebibyte)) return void sink.once('drain', () => pour(sink));
}

const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));

const servers = {
  'HTTP/2': async (context: Parameters<typeof http2Server>[0], onClose: () => void) =>
    http2Server(context, (stream, { ':path': path }) => {
      stream.once('close', onClose);
      stream.respond(path === '/bomb' ? { ':status': 200, 'content-encoding': 'gzip' } : { ':status': 200 });
      if (path === '/bomb') stream.end(bomb);
      else if (path === '/short') stream.end('ok');
      else pour(stream);
    }),
  'HTTP/1.1': async (context: Parameters<typeof http1Server>[0], onClose: () => void) =>
    http1Server(context, ({ url }, response) => {
      response.once('close', onClose);
      response.writeHead(200, url === '/bomb' ? { 'content-encoding': 'gzip' } : {});
      if (url === '/bomb') response.end(bomb);
      else if (url === '/short') response.end('ok');
      else pour(response);
    }),
};

for (const [protocol, start] of Object.entries(servers)) {
  test(`${protocol}: an endless answer and one that bursts are refused, and the next is answered`, async (context) => {
    let closed = 0;
    const { config } = await start(context, () => closed++);
    const transport = transportTo(context, config);
    const ask = async (target: string) =>
      (await transport.request({ ...get, target, answerBytesMax: 4 * mebibyte.length })).body();
    const refused = { code: 'MalformedAnswer', message: /larger than 4194304 bytes/ };
    await assert.rejects(ask('/endless'), refused);
    await until(() => closed === 1);
    await assert.rejects(ask('/bomb'), refused);
    assert.equal((await ask('/short')).toString(), 'ok');
  });
}
