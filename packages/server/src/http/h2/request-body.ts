/**
 * The body of a request as it comes, for the one who takes it: whole, or as a stream to hand on. What nobody has taken yet
 * stays here, and is not credited to the other end: so it is never more than a stream's window.
 */

import { Readable } from 'node:stream';
import { badRequest, StatusError, tooLarge } from '@hangar/api';
import type { Clock, Timer } from '@hangar/core';
import { Pieces } from '../pieces.ts';

/** A body that is on its way must come in this time, whatever its size: the largest is 3 MiB. */
const bodyTimeoutMs = 60_000;

const ended = (): Error => badRequest('the client closed the connection before the request body was complete');

interface Taker {
  piece(piece: Buffer): void;
  end(): void;
  fail(error: Error): void;
}

/** What comes after its taker has enough. */
const nobody: Taker = { piece: () => {}, end: () => {}, fail: () => {} };

export class RequestBody {
  /** The other end may send so much more. */
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

  /** The request is over: answered, or taken back. What was not taken is credited all the same. */
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

  /** The taker has enough: what else comes is dropped. */
  drop(): void {
    this.#taker = nobody;
  }

  #take(taker: Taker): void {
    this.#taker = taker;
    // It may have enough before the last of them.
    for (const piece of this.#waiting.take()) this.#give(this.#taker, piece);
    if (this.#isComplete) this.#taker.end();
  }

  #give(taker: Taker, piece: Buffer): void {
    // Who hands it on says itself when there is room again.
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

/** Between two reads pieces are put together: each that is pushed costs an object of the stream's own buffer. */
class PassedBody extends Readable implements Taker {
  readonly #credit: (bytes: number) => void;
  readonly #held = new Pieces();
  #owed = 0;
  /** It was read, and there was nothing. */
  #isAsked = false;
  #isEnded = false;

  constructor(credit: (bytes: number) => void) {
    super();
    this.#credit = credit;
    // Whoever hands it on may have left before it breaks off.
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

  /** Whenever there is room again it is read again. */
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
