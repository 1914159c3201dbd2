/**
 * Buffers the lines for a reader. Lines of one turn of the event loop are joined into few chunks, and each byte is copied once, into the
 * chunk. Data that the reader does not take is queued. To bound memory, a reader is disconnected when its queue exceeds a limit, when it
 * reads nothing for a minute, or when it is the slowest and the queues of all readers exceed a limit (waiting-bound.ts).
 *
 *     line ──▶ pieces (of this turn, ≤ 64 KiB) ──▶ chunk ──▶ sink, or while that is full: queue (≤ 64 MiB)
 */

import { Buffer } from 'node:buffer';
import type { Clock, Timer } from '@hangar/core';
import type { Sink } from '../../../http/message.ts';
import type { Waiting, WaitingBound } from './waiting-bound.ts';

export interface FeedOutputOptions {
  readonly sink: Sink;
  readonly clock: Clock;
  /** Bound of the queues of all readers. */
  readonly bound: WaitingBound;
  /** Called once, when the output is closed for any reason. */
  onOver(): void;
}

const chunkBytes = 64 * 1024;
/** Above this, the initial state pauses. */
const readyBytesMax = 256 * 1024;
export const waitingBytesMax = 64 * 1024 * 1024;
/** A reader that reads nothing for this long is disconnected. */
const takingTimeoutMs = 60_000;
const newline = 10;
const space = 32;

export class FeedOutput implements Waiting {
  readonly #options: FeedOutputOptions;
  /** Strings and bytes in the order in which they were written; each is a line. */
  #pieces: (string | Uint8Array)[] = [];
  /** Size of the pieces. Strings count with their length, which is less than their size if they are not ASCII. */
  #pieceBytes = 0;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #isFull = false;
  #isOver = false;
  #writtenMs: number;
  #flushing: Timer | undefined;
  #taking: Timer | undefined;
  #onReady: (() => void)[] = [];

  constructor(options: FeedOutputOptions) {
    const { sink, clock, bound } = options;
    this.#options = options;
    this.#writtenMs = clock.monotonicMs();
    bound.add(this);
    sink.onDrain(() => this.#drained());
    sink.onClose(() => this.#stop());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get waitingBytes(): number {
    return this.#queuedBytes;
  }

  /** Time since the last write, while nothing is waiting. */
  get silentMs(): number {
    return this.#isFull || this.#pieces.length > 0 ? 0 : this.#options.clock.monotonicMs() - this.#writtenMs;
  }

  /** Newlines within the bytes become spaces; in JSON they are equivalent. */
  line(text: string, bytes?: Uint8Array): void {
    if (this.#isOver) return;
    this.#pieces.push(text);
    this.#pieceBytes += text.length + 1;
    if (bytes) {
      this.#pieces.push(bytes);
      this.#pieceBytes += bytes.length + 1;
    }
    if (this.#pieceBytes >= chunkBytes) this.#flush();
    else if (!this.#isFull) this.#flushing ??= this.#options.clock.soon(() => this.#flush());
  }

  /** Resolves when the output accepts more or is closed; undefined: immediately. */
  ready(): Promise<void> | undefined {
    if (this.#isOver || this.#queuedBytes < readyBytesMax) return undefined;
    return new Promise((resolve) => this.#onReady.push(resolve));
  }

  /** Sends all written lines, then closes the sink. */
  end(): void {
    if (this.#isOver) return;
    this.#isFull = false;
    this.#flush();
    for (const chunk of this.#queue) this.#options.sink.write(chunk);
    this.#options.sink.end();
    this.#stop();
  }

  /** Aborts the response, so that the reader does not take it for complete. Queued data is dropped. */
  cut(): void {
    if (this.#isOver) return;
    const { sink } = this.#options;
    this.#stop();
    (sink.abort ?? sink.end).call(sink);
  }

  #flush(): void {
    this.#flushing?.cancel();
    this.#flushing = undefined;
    if (this.#isOver || this.#pieces.length === 0) return;
    const chunk = joined(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    if (!this.#isFull && this.#queue.length === 0) return this.#write(chunk);
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > waitingBytesMax) this.cut();
    else this.#options.bound.check();
  }

  #write(chunk: Buffer): void {
    const { sink, clock } = this.#options;
    this.#writtenMs = clock.monotonicMs();
    if (sink.write(chunk) || this.#isOver) return;
    this.#isFull = true;
    this.#taking = clock.after(takingTimeoutMs, () => this.cut());
  }

  #drained(): void {
    this.#isFull = false;
    this.#taking?.cancel();
    let written = 0;
    while (!this.#isFull && written < this.#queue.length) {
      const chunk = this.#queue[written++]!;
      this.#queuedBytes -= chunk.length;
      this.#write(chunk);
    }
    if (written > 0) this.#queue = this.#queue.slice(written);
    if (!this.#isFull) this.#flush();
    if (this.#queuedBytes < readyBytesMax) this.#wake();
  }

  #stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.bound.delete(this);
    this.#flushing?.cancel();
    this.#taking?.cancel();
    this.#pieces = [];
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#wake();
    this.#options.onOver();
  }

  #wake(): void {
    for (const resolve of this.#onReady.splice(0)) resolve();
  }
}

function joined(pieces: readonly (string | Uint8Array)[]): Buffer {
  let length = pieces.length;
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  const chunk = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += chunk.write(piece, at);
    else {
      chunk.set(piece, at);
      dropEnds(chunk.subarray(at, (at += piece.length)));
    }
    chunk[at++] = newline;
  }
  return chunk;
}

/** Replaces newlines: a real kube-apiserver stores values with a trailing one. */
function dropEnds(line: Buffer): void {
  for (let end = line.indexOf(newline); end !== -1; end = line.indexOf(newline, end + 1)) line[end] = space;
}
