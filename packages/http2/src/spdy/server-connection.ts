/** Server side of a SPDY/3.1 connection on a socket that was upgraded: the peer opens streams. */

import type { Duplex } from 'node:stream';
import { dataHead, flagFin, HeaderWriter, pingReply, rstStream, SpdyReader, synReply } from './frames.ts';
import type { SpdyStreamHandler } from './connection.ts';
import { HeaderReader } from './headers.ts';

/** A stream of the peer. */
export interface SpdyServerStream {
  readonly headers: Readonly<Record<string, string>>;
  /** Returns false if the peer does not keep up: wait for `onDrain` of the connection. */
  write(data: Uint8Array): boolean;
  /** Closes the sending direction. */
  finish(): void;
  /** Cancels both directions. */
  reset(): void;
}

export interface SpdyServerOptions {
  readonly socket: Duplex;
  /** Bytes behind the request. */
  readonly head: Buffer;
  /** Called for a new stream. Returns its handler; undefined rejects the stream. */
  onStream(stream: SpdyServerStream): SpdyStreamHandler | undefined;
  /** Called once when the connection is closed or the peer violates the protocol. */
  onClose(): void;
}

const pongBytesWaitingMax = 64 * 1024;
/** Open streams of a connection; a kubelet has the same order of magnitude. */
const streamsMax = 1_000;

export class SpdyServerConnection {
  readonly #options: SpdyServerOptions;
  readonly #writer = new HeaderWriter();
  readonly #headers = new HeaderReader();
  readonly #streams = new Map<number, SpdyStreamHandler>();

  constructor(options: SpdyServerOptions) {
    const { socket, head, onClose } = options;
    this.#options = options;
    const reader = new SpdyReader({
      opened: (id, block) => this.#opened(id, block),
      data: (id, piece) => this.#streams.get(id)?.data(piece),
      fin: (id) => this.#ended(id),
      reset: (id) => this.#ended(id),
      ping: (id) => {
        // Odd numbers are pings of the client.
        const isOfPeer = id.readUInt32BE(0) % 2 === 1;
        if (isOfPeer && socket.writableLength < pongBytesWaitingMax) socket.write(pingReply(id));
      },
    });
    const push = (bytes: Buffer): void => {
      try {
        reader.push(bytes);
      } catch {
        socket.destroy();
      }
    };
    socket.on('error', () => socket.destroy());
    socket.once('end', () => socket.destroy());
    socket.once('close', () => {
      for (const id of this.#streams.keys()) this.#ended(id);
      onClose();
    });
    if (head.length > 0) push(head);
    socket.on('data', push);
  }

  onDrain(callback: () => void): void {
    this.#options.socket.on('drain', callback);
  }

  pause(): void {
    this.#options.socket.pause();
  }

  resume(): void {
    this.#options.socket.resume();
  }

  /** Closes the connection after everything that was written. */
  close(): void {
    const { socket } = this.#options;
    if (!socket.destroyed) socket.end(() => socket.destroy());
  }

  #opened(id: number, block: Buffer): void {
    const { socket, onStream } = this.#options;
    const headers = this.#headers.read(block);
    const stream: SpdyServerStream = {
      headers,
      write: (data) => this.#write(id, data),
      finish: () => void (socket.destroyed || socket.write(dataHead(id, 0, flagFin))),
      reset: () => {
        this.#streams.delete(id);
        if (!socket.destroyed) socket.write(rstStream(id));
      },
    };
    // The reply is first: the handler may write at once.
    socket.write(synReply(id, this.#writer.write({})));
    const handler = this.#streams.size < streamsMax ? onStream(stream) : undefined;
    if (handler) this.#streams.set(id, handler);
    else stream.reset();
  }

  #write(id: number, data: Uint8Array): boolean {
    const { socket } = this.#options;
    if (data.length === 0 || socket.destroyed) return true;
    socket.cork();
    socket.write(dataHead(id, data.length, 0));
    const mayContinue = socket.write(data);
    socket.uncork();
    return mayContinue;
  }

  #ended(id: number): void {
    const handler = this.#streams.get(id);
    this.#streams.delete(id);
    handler?.end();
  }
}
