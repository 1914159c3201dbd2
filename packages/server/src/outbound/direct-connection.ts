/**
 * A TLS connection whose bytes are read without a stream, because streams and a new buffer for each record of TLS cost more than the
 * encryption. Until `receive`, it is an ordinary stream, so that node:http can send a request and read the head of the response.
 */

import type { OnReadOpts } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/** An exception of a receiver closes the connection. */
export interface Receiver {
  /** The bytes are valid only during the call. */
  data(bytes: Buffer): void;
  /** The peer sends nothing more. Not called if the connection is destroyed before. */
  end(): void;
}

type Done = (error?: Error | null) => void;

const headEnd = '\r\n\r\n';
/** The longest head that node:http accepts. */
const headBytesMax = 16 * 1024;

/** The longest record of TLS. */
export const recordBytesMax = 16 * 1024;

export class DirectConnection extends Duplex {
  readonly socket: TLSSocket;
  #receiver: Receiver | undefined;
  /** The beginning of the response, until its head is complete. Undefined: nothing is held. */
  #head: Buffer | undefined;
  /** The beginning of the body, until `passBody` or `receive`. */
  #body: Buffer | undefined;

  private constructor(socket: TLSSocket, holdsBody: boolean) {
    super();
    this.socket = socket;
    if (holdsBody) this.#head = Buffer.alloc(0);
    socket.on('error', (error) => this.destroy(error));
    socket.once('end', () => this.#ended());
    socket.once('close', () => this.destroy());
  }

  /**
   * `connect` opens the socket with the given option. Returns undefined if `connect` does. `holdsBody`: the stream ends after the head of
   * the response until `passBody` or `receive`. All connections of a control plane may share `record`: each record is used before the next
   * one is read.
   */
  static async open(
    connect: (onread: OnReadOpts) => Promise<TLSSocket> | undefined,
    { record, holdsBody = false }: { record: Buffer; holdsBody?: boolean },
  ): Promise<DirectConnection | undefined> {
    let connection: DirectConnection | undefined;
    const callback = (length: number, bytes: Uint8Array): boolean => {
      if (connection) connection.#received((bytes as Buffer).subarray(0, length));
      return true;
    };
    const socket = await connect({ buffer: record, callback });
    return socket && (connection = new DirectConnection(socket, holdsBody));
  }

  /** Passes all further bytes to the receiver. Use `socket` to write, and to pause and resume. */
  receive(receiver: Receiver): void {
    const rest = this.#body ?? (this.read() as Buffer | null);
    this.#body = undefined;
    this.#receiver = receiver;
    // Before the data, because the receiver may pause.
    this.socket.resume();
    if (rest) this.#deliver(rest);
    if (this.socket.readableEnded) this.#deliver(undefined);
  }

  /** Whether the stream ends after the head. */
  get isBodyHeld(): boolean {
    return this.#body !== undefined;
  }

  /** Continues the stream after the head. Not at once: a reader of the head may call it. */
  passBody(): void {
    process.nextTick(() => {
      const body = this.#body;
      this.#body = undefined;
      if (!body) return;
      if (body.length > 0) this.push(body);
      if (this.socket.readableEnded) this.#ended();
      else this.socket.resume();
    });
  }

  #ended(): void {
    if (this.#receiver) this.#deliver(undefined);
    else if (!this.#body) this.push(null);
  }

  #received(bytes: Buffer): void {
    if (this.#receiver) this.#deliver(bytes);
    else if (this.#head) this.#readHead(Buffer.concat([this.#head, bytes]));
    // A pause has no effect on bytes that are decrypted already.
    else if (this.#body) this.#body = Buffer.concat([this.#body, bytes]);
    else if (!this.push(Buffer.from(bytes))) this.socket.pause();
  }

  /** The only place that calls the receiver. An exception would end the process, so it closes the connection. */
  #deliver(bytes: Buffer | undefined): void {
    try {
      if (bytes) this.#receiver!.data(bytes);
      else this.#receiver!.end();
    } catch {
      this.destroy();
    }
  }

  #readHead(read: Buffer): void {
    const at = read.indexOf(headEnd);
    if (at < 0 && read.length < headBytesMax) {
      this.#head = read;
      return;
    }
    this.#head = undefined;
    if (at < 0) return void this.push(read);
    this.#body = read.subarray(at + headEnd.length);
    this.socket.pause();
    this.push(read.subarray(0, at + headEnd.length));
  }

  override _read(): void {
    if (!this.#body) this.socket.resume();
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
