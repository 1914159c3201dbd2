/**
 * A TLS connection whose bytes are read without a stream, because streams and a new buffer for each record of TLS cost more than the
 * encryption. Until `receive`, it is an ordinary stream, so that node:http can send a request and read the head of the response.
 */

import type { OnReadOpts } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

export interface Receiver {
  /** The bytes are valid only during the call. */
  data(bytes: Buffer): void;
  /** The peer sends nothing more. Not called if the connection is destroyed before. */
  end(): void;
}

type Done = (error?: Error | null) => void;

/** Each record is read into this buffer and used before the next one of any connection. Longer than a record. */
let records: Buffer | undefined;

export class DirectConnection extends Duplex {
  readonly socket: TLSSocket;
  #receiver: Receiver | undefined;

  private constructor(socket: TLSSocket) {
    super();
    this.socket = socket;
    socket.on('error', (error) => this.destroy(error));
    socket.once('end', () => (this.#receiver ? this.#receiver.end() : this.push(null)));
    socket.once('close', () => this.destroy());
  }

  /** `connect` opens the socket with the given option. Returns undefined if `connect` does. */
  static async open(
    connect: (onread: OnReadOpts) => Promise<TLSSocket> | undefined,
  ): Promise<DirectConnection | undefined> {
    let connection: DirectConnection | undefined;
    const callback = (length: number, bytes: Uint8Array): boolean => {
      if (connection) connection.#received((bytes as Buffer).subarray(0, length));
      return true;
    };
    const socket = await connect({ buffer: (records ??= Buffer.allocUnsafeSlow(64 * 1024)), callback });
    return socket && (connection = new DirectConnection(socket));
  }

  /** Passes all further bytes to the receiver. Use `socket` to write, and to pause and resume. */
  receive(receiver: Receiver): void {
    const rest = this.read() as Buffer | null;
    this.#receiver = receiver;
    if (rest) receiver.data(rest);
    if (this.socket.readableEnded) receiver.end();
    else this.socket.resume();
  }

  #received(bytes: Buffer): void {
    if (this.#receiver) this.#receiver.data(bytes);
    else if (!this.push(Buffer.from(bytes))) this.socket.pause();
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(bytes: Buffer, _encoding: string, done: Done): void {
    this.socket.write(bytes, done);
  }

  override _final(done: Done): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: Done): void {
    this.socket.destroy();
    done(error);
  }
}
