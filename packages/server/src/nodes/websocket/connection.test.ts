import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { WebSocketConnection } from './connection.ts';

test('a client that does not read is disconnected some time after the close frame', () => {
  let late: (() => void) | undefined;
  const clock: Clock = { ...systemClock, after: (_, callback) => ((late = callback), { cancel: () => {} }) };
  const socket = new Duplex({ read: () => {}, write: () => {} });
  const connection = new WebSocketConnection({ socket, head: Buffer.alloc(0) }, clock);
  connection.send(Buffer.from('unread'));
  connection.close();
  assert.equal(socket.destroyed, false);
  late!();
  assert.equal(socket.destroyed, true);
});

test('a connection that is already closed ends at once', () => {
  const socket = new Duplex({ read: () => {}, write: () => {} }).destroy();
  const connection = new WebSocketConnection({ socket, head: Buffer.alloc(0) }, systemClock);
  let ends = 0;
  connection.read(
    () => {},
    () => ends++,
  );
  assert.equal(ends, 1);
});
