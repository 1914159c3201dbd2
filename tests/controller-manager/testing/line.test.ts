import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { Line } from './line.ts';

/** A line to an echo server, and a connection through it. */
async function echoing(): Promise<{ line: Line; dial: () => Promise<Socket> } & AsyncDisposable> {
  const opened = new AsyncDisposableStack();
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  opened.defer(async () => void (await once(server.close(), 'close')));
  const line = opened.use(await Line.open((server.address() as AddressInfo).port));
  const dial = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(line.url).port), '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    return socket.setEncoding('utf8');
  };
  return { line, dial, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const nothing = async (socket: Socket): Promise<void> => {
  await assert.rejects(once(socket, 'data', { signal: AbortSignal.timeout(200) }), { name: 'AbortError' });
};

test('what is sent over a line that is cut comes when it is back, and nobody is told in between', async () => {
  await using echo = await echoing();
  const before = await echo.dial();
  before.write('one');
  assert.deepEqual(await once(before, 'data'), ['one']);
  echo.line.cut();
  before.write('two');
  const during = await echo.dial();
  during.write('three');
  await Promise.all([nothing(before), nothing(during)]);
  assert.ok(!before.destroyed && !during.destroyed);
  const came = Promise.all([once(before, 'data'), once(during, 'data')]);
  echo.line.heal();
  assert.deepEqual(await came, [['two'], ['three']]);
  before.destroy();
  during.destroy();
});
