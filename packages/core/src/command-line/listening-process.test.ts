import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { listeningProcess } from './listening-process.ts';

test('a process that listens on a port is found by its port, and not after it has closed it', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const found = await listeningProcess(port);
  assert.equal(found?.pid, process.pid);
  assert.match(found!.command, /node/);
  assert.equal(found!.isHangar, false);
  await new Promise((resolve) => server.close(resolve));
  assert.equal(await listeningProcess(port), undefined);
});
