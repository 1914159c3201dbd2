/**
 * The body of a request: consumed as a whole, or as a stream. Data without a consumer is buffered and not credited to the peer, so the
 * buffer never exceeds the window of the stream.
 */

import { Readable } from 'node:stream';
import { badRequest, StatusError, tooLarge } from '@hangar/api';
import type { Clock, Timer } from '@hangar/core';
import { Pieces } from '../pieces.ts';

/** Timeout for a body of any size; the largest is 3 MiB. */
const bodyTimeoutMs = 60_000;

const ended = (): Error => badRequest('the client closed the connection before the request body was complete');

interface Taker {
  piece(piece: Buffer): void;
  end(): void;
  fail(error: Error): void;
}

/** Discards data after the consumer has finished. */
const nobody: Taker = { piece: () => {}, end: () => {}, fail: () => {} };

export class RequestBody {
  /** Allows the peer to send this many more bytes. */
  readonly #credit: (bytes: number) => void;
  readonly #waiting = new Pieces();
  #taker: Taker | undefined;
  #isComplete = false;
  #isBroken = false;

  constructor(credit: (bytes: number) => void) {
    this.#credit = credit;
  }

  piece(piece: Buffer): void {
    if (this.#taker) this.#give(this.#taker, piece);
    else this.#waiting.add(piece);
  }

  end(): void {
    this.#isComplete = true;
    this.#taker?.end();
  }

  /** Called when the request was answered or reset. Unconsumed bytes are credited as well. */
  stop(): void {
    if (this.#taker instanceof PassedBody) this.#taker.pay();
    if (!this.#isComplete) {
      this.#isBroken = true;
      this.#taker?.fail(ended());
    }
    if (this.#taker === undefined) this.#take(nobody);
  }

  whole(bytesMax: number, clock: Clock): Promise<Uint8Array> {
    if (this.#isBroken) return Promise.reject(ended());
    if (this.#taker) return Promise.reject(new Error('impossible state: the body was already taken'));
    return new Promise((resolve, reject) => {
      this.#take(new Collector(this, { bytesMax, clock, resolve, reject }));
    });
  }

  stream(): Readable {
    const stream = new PassedBody(this.#credit);
    if (this.#isBroken) stream.fail(ended());
    else this.#take(stream);
    return stream;
  }

  /** Discards the rest of the body. */
  drop(): void {
    this.#taker = nobody;
  }

  #take(taker: Taker): void {
    this.#taker = taker;
    // The consumer may finish before the last piece.
    for (const piece of this.#waiting.take()) this.#give(this.#taker, piece);
    if (this.#isComplete) this.#taker.end();
  }

  #give(taker: Taker, piece: Buffer): void {
    // A streamed body credits bytes itself when it has room.
    if (!(taker instanceof PassedBody)) this.#credit(piece.length);
    taker.piece(piece);
  }
}

interface CollectorOptions {
  readonly bytesMax: number;
  readonly clock: Clock;
  readonly resolve: (body: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

class Collector implements Taker {
  readonly #body: RequestBody;
  readonly #options: CollectorOptions;
  readonly #timer: Timer;
  readonly #pieces = new Pieces();

  constructor(body: RequestBody, options: CollectorOptions) {
    this.#body = body;
    this.#options = options;
    this.#timer = options.clock.after(bodyTimeoutMs, () =>
      this.fail(new StatusError('Timeout', 'Timeout: the request body was not received in time')),
    );
  }

  piece(piece: Buffer): void {
    if (this.#pieces.length + piece.length <= this.#options.bytesMax) this.#pieces.add(piece);
    else this.fail(tooLarge(`limit is ${this.#options.bytesMax}`));
  }

  end(): void {
    this.#timer.cancel();
    this.#options.resolve(this.#pieces.takeWhole());
  }

  fail(error: Error): void {
    this.#timer.cancel();
    this.#pieces.clear();
    this.#body.drop();
    this.#options.reject(error);
  }
}

/** Joins pieces between two reads: each pushed piece costs an object in the buffer of the stream. */
class PassedBody extends Readable implements Taker {
  readonly #credit: (bytes: number) => void;
  readonly #held = new Pieces();
  #owed = 0;
  /** A read is pending without data. */
  #isAsked = false;
  #isEnded = false;

  constructor(credit: (bytes: number) => void) {
    super();
    this.#credit = credit;
    // The consumer may have left before the body fails.
    this.on('error', () => {});
  }

  piece(piece: Buffer): void {
    this.#owed += piece.length;
    if (this.destroyed) return this.pay();
    this.#held.add(piece);
    if (this.#isAsked) this.#pass();
  }

  end(): void {
    this.#isEnded = true;
    if (!this.destroyed && this.#held.length === 0) this.push(null);
  }

  fail(error: Error): void {
    this.destroy(error);
  }

  override _read(): void {
    if (this.#held.length > 0) return this.#pass();
    this.#isAsked = true;
    this.pay();
  }

  /** Called again whenever there is room. */
  #pass(): void {
    this.#isAsked = false;
    for (const piece of this.#held.take()) this.push(piece);
    if (this.#isEnded) this.push(null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#held.clear();
    this.pay();
    done(error);
  }

  pay(): void {
    const owed = this.#owed;
    this.#owed = 0;
    if (owed > 0) this.#credit(owed);
  }
}
