/** A client that sends arbitrary frames and records the received ones, with the connection that it talks to, over loopback. */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { errorCode, flag, frame, FrameReader, frameType, HpackDecoder, preface } from '@hangar/http2';
import type { Handler, Intake } from '../../message.ts';
import { Connection } from '../connection.ts';

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export type Pairs = readonly (readonly [name: string, value: string])[];

export const get: Pairs = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'here'],
];
export const post: Pairs = [[':method', 'POST'], ...get.slice(1)];

/** Encodes header fields as plain literals, without validation. */
export function block(pairs: Pairs): Buffer {
  const strings = pairs.flatMap(([name, value]) => [Buffer.from([0]), string(name), string(value)]);
  return Buffer.concat(strings);
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  const { length } = bytes;
  const size = length < 127 ? [length] : [127, ((length - 127) & 0x7f) | 0x80, (length - 127) >> 7];
  if (length >= 127 + 2 ** 14) throw new RangeError('too long for a test');
  return Buffer.concat([Buffer.from(size), bytes]);
}

export const headers = (streamId: number, pairs: Pairs, flags: number = flag.endStream | flag.endHeaders): Buffer =>
  frame(frameType.headers, flags, streamId, block(pairs));
export const data = (streamId: number, payload: string | Buffer, flags = 0): Buffer =>
  frame(frameType.data, flags, streamId, Buffer.from(payload));
export const number32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at);
  return bytes;
};
export const reset = (streamId: number): Buffer =>
  frame(frameType.resetStream, 0, streamId, number32(errorCode.cancel));
export const noSettings = frame(frameType.settings, 0, 0, Buffer.alloc(0));
/** The first bytes of every client. */
export const hello = Buffer.concat([preface, noSettings]);

export class RawClient implements AsyncDisposable {
  readonly frames: Frame[] = [];
  readonly socket: Socket;
  readonly connection: Connection;
  readonly problems: Error[];
  readonly #server: Server;
  readonly #decoder = new HpackDecoder({ bytesMax: 65_536, fieldsMax: 256 });
  #wake = (): void => {};
  isClosed = false;

  private constructor(socket: Socket, connection: Connection, server: Server, problems: Error[]) {
    this.socket = socket;
    this.connection = connection;
    this.problems = problems;
    this.#server = server;
    const reader = new FrameReader((type, flags, streamId, bytes, start, end) => {
      this.frames.push({ type, flags, streamId, payload: Buffer.from(bytes.subarray(start, end)) });
    });
    socket.on('data', (chunk: Buffer) => {
      reader.feed(chunk);
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  static async open(handler: Handler, clock: Clock = systemClock, intake?: Intake): Promise<RawClient> {
    const problems: Error[] = [];
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [other] = await accepted;
    other.on('error', () => other.destroy());
    const connection = new Connection(other, {
      peer: { address: '127.0.0.1', certificate: undefined },
      clock,
      handler,
      intake,
      onError: (error) => problems.push(error),
      headTimeoutMs: 15_000,
      idleTimeoutMs: 300_000,
    });
    return new RawClient(socket, connection, server, problems);
  }

  send(...pieces: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(pieces));
  }

  /** Waits for a frame, including frames already received. */
  async frame(isIt: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(isIt);
      if (found) return found;
      if (this.isClosed) throw new Error('the connection was closed without it');
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  of(type: number, streamId: number): Promise<Frame> {
    return this.frame((frame) => frame.type === type && frame.streamId === streamId);
  }

  /** Returns the code of GOAWAY, after the connection was closed. */
  async goAway(): Promise<number> {
    const { payload } = await this.frame(({ type }) => type === frameType.goAway);
    while (!this.isClosed) await new Promise<void>((resolve) => (this.#wake = resolve));
    return payload.readUInt32BE(4);
  }

  async resetCode(streamId: number): Promise<number> {
    return (await this.of(frameType.resetStream, streamId)).payload.readUInt32BE(0);
  }

  /** Call it in the order in which the heads arrived: they share a table. */
  async head(streamId: number): Promise<Record<string, string>> {
    const { payload } = await this.of(frameType.headers, streamId);
    const fields = this.#decoder.decode(payload, 0, payload.length)!;
    return Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  }

  /** Body received so far. */
  received(streamId: number): Buffer {
    const its = this.frames.filter((frame) => frame.type === frameType.data && frame.streamId === streamId);
    return Buffer.concat(its.map(({ payload }) => payload));
  }

  /** Waits for this much of a body, and for unexpected data after it. */
  async body(streamId: number, length: number): Promise<Buffer> {
    await this.frame(() => this.received(streamId).length >= length);
    await this.settled();
    return this.received(streamId);
  }

  /** Waits until everything sent so far was handled. Two rounds: an acknowledgement is sent before the data of its turn. */
  async settled(): Promise<void> {
    for (let times = 0; times < 2; times++) {
      const payload = number32(0, this.#pings++);
      this.send(frame(frameType.ping, 0, 0, payload));
      await this.frame(({ type, payload: came }) => type === frameType.ping && came.equals(payload));
    }
  }

  #pings = 0;

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
