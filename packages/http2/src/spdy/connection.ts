/** Client side of a SPDY/3.1 connection on a socket that was upgraded. */

import type { Duplex } from 'node:stream';
import { dataHead, flagFin, HeaderWriter, pingReply, SpdyReader, synStream } from './frames.ts';

export interface SpdyStreamHandler {
  data(piece: Buffer): void;
  /** The peer finished sending: it closed or reset the stream. Called once. */
  end(): void;
}

/** Answers to pings are dropped while the peer does not read. */
const pongBytesWaitingMax = 64 * 1024;

export class SpdyConnection {
  readonly #socket: Duplex;
  readonly #headers = new HeaderWriter();
  readonly #streams = new Map<number, SpdyStreamHandler>();
  /** A client uses odd numbers. */
  #nextId = 1;

  /** `onClose` is called once when the connection is closed or the peer violates the protocol. */
  constructor(socket: Duplex, onClose: () => void) {
    this.#socket = socket;
    const reader = new SpdyReader({
      data: (id, piece) => this.#streams.get(id)?.data(piece),
      fin: (id) => this.#ended(id),
      reset: (id) => this.#ended(id),
      ping: (id) => {
        // Even numbers are pings of the server.
        const isOwn = id.readUInt32BE(0) % 2 === 1;
        if (!isOwn && socket.writableLength < pongBytesWaitingMax) socket.write(pingReply(id));
      },
    });
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      try {
        reader.push(bytes);
      } catch {
        socket.destroy();
      }
    });
    socket.once('end', () => socket.destroy());
    socket.once('close', onClose);
  }

  /** Opens a stream with these headers, and returns its number. */
  open(headers: Readonly<Record<string, string>>, handler: SpdyStreamHandler): number {
    const id = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(id, handler);
    this.#socket.write(synStream(id, this.#headers.write(headers)));
    return id;
  }

  /** Returns false if the peer does not keep up: wait for `onDrain`. */
  write(id: number, data: Uint8Array): boolean {
    if (data.length === 0 || this.#socket.destroyed) return true;
    this.#socket.cork();
    this.#socket.write(dataHead(id, data.length, 0));
    const mayContinue = this.#socket.write(data);
    this.#socket.uncork();
    return mayContinue;
  }

  /** Closes the sending direction of the stream. */
  finish(id: number): void {
    if (!this.#socket.destroyed) this.#socket.write(dataHead(id, 0, flagFin));
  }

  onDrain(callback: () => void): void {
    this.#socket.on('drain', callback);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  #ended(id: number): void {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    stream?.end();
  }
}
