/** Over sockets: the server disconnects a reader that does not read before it exceeds its memory limit. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import { eventually } from '../testing/run-controllers.ts';
import { openFeed } from './request.ts';

const value = Buffer.from(JSON.stringify({ metadata: { name: 'big' }, data: { x: 'x'.repeat(1_500_000) } }));
const key = '/registry/clusters/red/configmaps/default/big';
const protocols = ['h2', 'http/1.1'] as const;

test('a reader that stands still, over either protocol, is cut off and sees that there was more; the server goes on', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'], listen: true });
  const stopping = new AbortController();
  const connected = protocols.map((protocol) => connect(fleet.configOf(), { protocols: [protocol] }));
  const readers = [];
  for (const client of connected) {
    const reader = (await openFeed(client, stopping.signal)).stream()[Symbol.asyncIterator]();
    await reader.next();
    readers.push(reader);
  }
  // The client does not read from here on.
  for (let at = 0; at < 52; at++) {
    await fleet.store.commit([{ type: 'put', key, value }]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const [at, reader] of readers.entries()) {
    let bytes = 0;
    const reading = (async () => {
      for (let next = await reader.next(); !next.done; next = await reader.next()) bytes += next.value.length;
    })();
    await assert.rejects(reading, (error) => hasCode(error, 'ConnectionLost'), protocols[at]);
    assert.ok(bytes < 40_000_000, `${bytes} bytes were on their way over ${protocols[at]}`);
  }
  let text = '';
  const again = (await openFeed(connected[0]!, stopping.signal)).stream();
  const reading = (async () => {
    for await (const chunk of again) text += Buffer.from(chunk).toString();
  })();
  await eventually(() => text.includes('{"type":"synced"}'));
  stopping.abort();
  await assert.rejects(reading, (error) => hasCode(error, 'Aborted'));
  await Promise.all(connected.map((client) => client.close()));
});
