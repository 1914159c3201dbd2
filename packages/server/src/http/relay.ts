/** Passes bytes from one connection to another, with back-pressure. */

import type { Readable } from 'node:stream';
import type { Sink } from './message.ts';

/**
 * Writes a response to a client: a slow client slows only this response, and if one side disconnects, the other is closed. Pieces that
 * arrive in one turn of the event loop are written together, because a kubelet sends every line of a log as a separate piece.
 */
export function pass(response: Readable, sink: Sink): void {
  let isWhole = false;
  let isScheduled = false;
  let pieces: Buffer[] = [];
  const batches = new Batches(sink);
  const flush = (): void => {
    isScheduled = false;
    if (pieces.length === 0) return;
    const bytes = batches.join(pieces);
    pieces = [];
    if (!sink.write(bytes)) response.pause();
  };
  sink.onDrain(() => response.resume());
  sink.onClose(() => response.destroy());
  response.on('data', (piece: Buffer) => {
    pieces.push(piece);
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  });
  response.on('end', () => {
    isWhole = true;
    flush();
    sink.end();
  });
  response.on('close', () => {
    if (isWhole) return;
    flush();
    (sink.abort ?? sink.end).call(sink);
  });
}

const batchBytesMin = 4 * 1024;
/** Larger batches are rare: a socket reads at most as much in a turn. */
const batchBytesMax = 64 * 1024;

/**
 * Joins pieces in a buffer that is used again after the sink has written it. New buffers would lie outside of the heap of V8, which collects
 * the whole heap after some tens of megabytes of them: for a server with many objects, that costs more than the encryption.
 */
class Batches {
  readonly #sink: Sink;
  #buffer = Buffer.alloc(0);

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Returns the pieces as one buffer that is valid until the sink has written it. */
  join(pieces: readonly Buffer[]): Buffer {
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    if (pieces.length === 1) return pieces[0]!;
    if (bytes < batchBytesMin || bytes > batchBytesMax) return Buffer.concat(pieces, bytes);
    // A buffer that is much too large was for a burst: it is not kept for a slow stream.
    const isSuitable = this.#buffer.length >= bytes && this.#buffer.length <= bytes * 8;
    if (!isSuitable || !this.#sink.isFlushed?.()) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.min(bytes * 2, batchBytesMax));
    }
    let at = 0;
    for (const piece of pieces) at += piece.copy(this.#buffer, at);
    return this.#buffer.subarray(0, bytes);
  }
}
