/** Streams bytes that are produced at the speed at which the client reads them. */

import { asError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Sink, Streaming } from '../../http/message.ts';

export interface DownloadOptions {
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
}

/** A client that reads nothing for this long is disconnected. */
const takingTimeoutMs = 60_000;

/** If producing the bytes fails, the response is aborted, so that clients do not take a part for the whole. */
export const download = (chunks: AsyncGenerator<Uint8Array, void, void>, options: DownloadOptions): Streaming => ({
  isFinite: true,
  start(sink) {
    void send(joined(chunks), new Taker(sink, options.clock)).catch((error: unknown) => {
      options.onError(asError(error));
      breakOff(sink);
    });
  },
});

async function send(chunks: AsyncGenerator<Uint8Array, void, void>, taker: Taker): Promise<void> {
  for await (const chunk of chunks) if (!(await taker.take(chunk))) return;
  taker.sink.end();
}

const breakOff = (sink: Sink): void => (sink.abort ?? sink.end).call(sink);

/** Writes chunks to a sink as fast as its client reads. */
export class Taker {
  readonly sink: Sink;
  readonly #clock: Clock;
  #isGone = false;
  #onChange: (() => void) | undefined;

  constructor(sink: Sink, clock: Clock) {
    this.sink = sink;
    this.#clock = clock;
    sink.onDrain(() => this.#onChange?.());
    sink.onClose(() => {
      this.#isGone = true;
      this.#onChange?.();
    });
  }

  /** Resolves when the sink accepts more; false: the client has disconnected. */
  async take(chunk: Uint8Array): Promise<boolean> {
    if (this.#isGone) return false;
    if (this.sink.write(chunk) || this.#isGone) return !this.#isGone;
    const timer = this.#clock.after(takingTimeoutMs, () => {
      this.#isGone = true;
      breakOff(this.sink);
      this.#onChange?.();
    });
    await new Promise<void>((resolve) => (this.#onChange = resolve));
    timer.cancel();
    return !this.#isGone;
  }
}

const chunkBytes = 64 * 1024;

/** Joins small chunks, to write fewer times. */
async function* joined(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    length += chunk.length;
    if (length < chunkBytes) continue;
    yield Buffer.concat(waiting);
    [waiting, length] = [[], 0];
  }
  if (length > 0) yield Buffer.concat(waiting);
}
