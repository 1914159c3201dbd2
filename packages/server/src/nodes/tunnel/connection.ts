/**
 * One connection to a target, through an agent. It has no half-closed state: the protocol has none. Ending it closes both directions, after
 * the bytes that were written before.
 */

import { Duplex } from 'node:stream';
import { OutboundError } from '../../outbound/index.ts';
import { Pieces } from '../../http/pieces.ts';

/** The agent of a connection. */
export interface ConnectionHost {
  /** Sends data and calls back when the agent's stream has room for more. */
  send(connection: TunnelConnection, data: Uint8Array, done: () => void): void;
  /** The connection holds fewer bytes than before. */
  taken(connection: TunnelConnection, bytes: number): void;
  /** This side wants to close. */
  closing(connection: TunnelConnection): void;
  /** Called once. Bytes that the connection still holds are dropped. */
  closed(connection: TunnelConnection): void;
}

const writableBytes = 64 * 1024;

export class TunnelConnection extends Duplex {
  readonly id: number;
  readonly target: string;
  readonly #host: ConnectionHost;
  readonly #waiting = new Pieces();
  /** Pieces in the order of reading, taken from `#waiting`. */
  #next: readonly Buffer[] = [];
  #nextAt = 0;
  /** Bytes that were received and not read. */
  heldBytes = 0;
  #isAsked = false;
  #isRemoteClosed = false;
  #remoteError = '';

  constructor(id: number, target: string, host: ConnectionHost) {
    // The stream itself buffers at most one piece, so that `heldBytes` is exact.
    super({ allowHalfOpen: false, readableHighWaterMark: 0, writableHighWaterMark: writableBytes });
    this.id = id;
    this.target = target;
    this.#host = host;
    // The agent may disconnect before the caller listens.
    this.on('error', () => {});
  }

  // node:http calls these methods on each connection. The options of a socket do not apply, and callers have their own time limits.

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  /** `data` must not be a small part of a large buffer: it may stay in memory for long. */
  receive(data: Buffer): void {
    this.heldBytes += data.length;
    this.#waiting.add(data);
    if (this.#isAsked) this.#pass();
  }

  /** The target closed the connection. Bytes that were received before can still be read. */
  remoteClosed(error: string): void {
    if (this.#isRemoteClosed) return;
    this.#isRemoteClosed = true;
    this.#remoteError = error;
    if (this.#isAsked) this.#passEnd();
  }

  override _read(): void {
    this.#isAsked = true;
    if (this.heldBytes > 0) this.#pass();
    else if (this.#isRemoteClosed) this.#passEnd();
  }

  #passEnd(): void {
    const error = this.#remoteError;
    if (error === '') this.push(null);
    else this.destroy(new OutboundError('Unreachable', `${this.target}: ${error}`));
  }

  #pass(): void {
    this.#isAsked = false;
    if (this.#nextAt === this.#next.length) {
      this.#next = this.#waiting.take();
      this.#nextAt = 0;
    }
    const piece = this.#next[this.#nextAt++]!;
    this.heldBytes -= piece.length;
    this.#host.taken(this, piece.length);
    this.push(piece);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#sendAll(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#sendAll(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  #sendAll(data: Buffer, done: (error?: Error | null) => void): void {
    // As on a TCP connection: an error would drop received bytes that were not read yet.
    if (this.#isRemoteClosed) return done();
    this.#host.send(this, data, done);
  }

  /** The other direction ends when the agent has closed the connection. */
  override _final(done: () => void): void {
    if (!this.#isRemoteClosed) this.#host.closing(this);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#waiting.clear();
    this.#next = [];
    this.#host.closed(this);
    done(error);
  }
}
