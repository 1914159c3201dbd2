import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Ports } from './ports.ts';

test('a port is given once until it is released, and not again right away', async () => {
  const ports = new Ports({ from: 23_000, to: 23_004 });
  const all = await Promise.all([ports.take(), ports.take(), ports.take()]);
  assert.equal(new Set(all).size, 3);
  ports.release(all[2]);
  assert.ok(!all.includes(await ports.take()));
});

test('a port that somebody else has is passed over, and a full range is refused', async (context) => {
  const server = createServer().listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ports = new Ports({ from: port, to: port });
  await assert.rejects(ports.take(), { code: 'NoFreePort', message: new RegExp(`${port}-${port}`) });
  server.close();
  await once(server, 'close');
  assert.equal(await ports.take(), port);
  await assert.rejects(ports.take(), { code: 'NoFreePort' });
});
