/** Passes bytes from one connection to another, with back-pressure. */

import type { Duplex, Readable } from 'node:stream';
import { BatchWriter } from './batch-writer.ts';
import type { BatchTarget } from './batch-writer.ts';
import type { Sink } from './message.ts';

/** Writes a response to a client: a slow client slows only this response, and if one side disconnects, the other is closed. */
export function pass(response: Readable, sink: Sink): void {
  let isWhole = false;
  const writer = new BatchWriter(sink, response);
  sink.onClose(() => response.destroy());
  response.on('data', (piece: Buffer) => writer.append(piece));
  response.on('end', () => {
    isWhole = true;
    writer.flush();
    sink.end();
  });
  response.on('close', () => {
    if (isWhole) return;
    writer.flush();
    (sink.abort ?? sink.end).call(sink);
  });
}

/** Returns the writing side of a connection. */
export const batchTarget = (connection: Duplex): BatchTarget => ({
  write: (bytes) => connection.write(bytes),
  isFlushed: () => connection.writableLength === 0,
  onDrain: (callback) => void connection.on('drain', callback),
});
