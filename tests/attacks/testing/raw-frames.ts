/** HTTP/2 over a connection to a whole server, frame by frame: sends any frame, and reports the outcome of a stream. */

import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { FrameReader, frameType, HpackDecoder } from '@hangar/http2';
import { patienceMs } from './client.ts';

export {
  block,
  data,
  headers,
  hello,
  number32,
  reset,
} from '../../../packages/server/src/http/h2/testing/raw-client.ts';
export type { Pairs } from '../../../packages/server/src/http/h2/testing/raw-client.ts';
export { errorCode, flag, frame, frameType } from '@hangar/http2';

export class RawFrames implements AsyncDisposable {
  readonly socket: TLSSocket;
  /** Code of GOAWAY, when one came. */
  goAway: number | undefined;
  isClosed = false;
  /** A status or `reset`, by stream, in the order of arrival. */
  readonly #outcomes = new Map<number, string>();
  readonly #decoder = new HpackDecoder({ bytesMax: 65_536, fieldsMax: 256 });
  #wake = (): void => {};

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    const reader = new FrameReader((type, _flags, streamId, bytes, start, end) => {
      this.#take(type, streamId, Buffer.from(bytes.subarray(start, end)));
    });
    socket.on('data', (chunk: Buffer) => {
      reader.feed(chunk);
      this.#wake();
    });
    socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  static async open(socket: TLSSocket): Promise<RawFrames> {
    return new RawFrames(socket);
  }

  send(...pieces: readonly Uint8Array[]): void {
    if (!this.isClosed) this.socket.write(Buffer.concat(pieces));
  }

  /** Resolves with the status of a stream, `reset`, or `closed` with the whole connection. */
  async outcome(streamId: number): Promise<string> {
    return this.#until(() => this.#outcomes.get(streamId) ?? (this.isClosed ? 'closed' : undefined));
  }

  /** Resolves with the code of GOAWAY once the connection is closed; undefined: it was closed without one. */
  async ended(): Promise<number | undefined> {
    await this.#until(() => (this.isClosed ? true : undefined));
    return this.goAway;
  }

  get answered(): number {
    return this.#outcomes.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isClosed) return;
    this.socket.destroy();
    await once(this.socket, 'close');
  }

  #take(type: number, streamId: number, payload: Buffer): void {
    if (type === frameType.goAway) this.goAway = payload.readUInt32BE(4);
    if (type === frameType.resetStream && !this.#outcomes.has(streamId)) this.#outcomes.set(streamId, 'reset');
    if (type !== frameType.headers) return;
    const fields = this.#decoder.decode(payload, 0, payload.length) ?? [];
    this.#outcomes.set(streamId, fields.find(({ name }) => name === ':status')?.value ?? '?');
  }

  async #until<T>(look: () => T | undefined): Promise<T> {
    const late = AbortSignal.timeout(patienceMs);
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      late.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        late.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }
}
