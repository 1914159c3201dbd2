/** One WebSocket connection of a client: reads messages with back-pressure, answers pings, and closes in order. */

import type { Duplex } from 'node:stream';
import type { Clock } from '@hangar/core';
import type { Upgrade } from '../../http/message.ts';
import { FrameReader, frameHead, normalClosure, opcodes } from './frames.ts';
import type { FrameHandler } from './frames.ts';

/** Answers to pings are dropped while the client does not read. */
const pongBytesWaitingMax = 64 * 1024;
/** Time for a client to read the close frame and all data before it. */
const closeTimeoutMs = 10_000;

export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #head: Buffer;
  readonly #clock: Clock;
  #isClosing = false;

  constructor({ socket, head }: Upgrade, clock: Clock) {
    this.#socket = socket;
    this.#head = head;
    this.#clock = clock;
    socket.on('error', () => socket.destroy());
  }

  get isClosed(): boolean {
    return this.#isClosing || this.#socket.destroyed;
  }

  /** Starts to read: `data` is called with pieces of messages, `onEnd` once when the client closes or violates the protocol. */
  read(data: FrameHandler['data'], onEnd: () => void): void {
    const socket = this.#socket;
    if (socket.destroyed) return onEnd();
    const reader = new FrameReader({
      data,
      ping: (payload) => {
        if (socket.writableLength < pongBytesWaitingMax) this.#send(opcodes.pong, [payload]);
      },
      close: () => this.close(),
    });
    const push = (bytes: Buffer): void => {
      try {
        reader.push(bytes);
      } catch {
        socket.destroy();
      }
    };
    socket.once('end', () => this.close());
    socket.once('close', onEnd);
    if (this.#head.length > 0) push(this.#head);
    socket.on('data', push);
  }

  writeHead(head: Buffer): void {
    this.#socket.write(head);
  }

  /** Sends the parts as one binary message. Returns false if the client does not keep up: wait for `onDrain`. */
  send(...parts: readonly Uint8Array[]): boolean {
    return this.#send(opcodes.binary, parts);
  }

  sendText(text: string): boolean {
    return this.#send(opcodes.text, [Buffer.from(text)]);
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

  /** Sends the frame that closes the connection, then closes it. */
  close(): void {
    if (this.isClosed) return;
    this.#isClosing = true;
    this.#socket.end(normalClosure);
    // Bytes of the client are discarded until the frame is sent.
    this.#socket.resume();
    this.#socket.once('finish', () => this.#socket.destroy());
    const timer = this.#clock.after(closeTimeoutMs, () => this.#socket.destroy());
    this.#socket.once('close', () => timer.cancel());
  }

  #send(opcode: number, parts: readonly Uint8Array[]): boolean {
    if (this.isClosed) return true;
    const length = parts.reduce((sum, { length: bytes }) => sum + bytes, 0);
    const socket = this.#socket;
    socket.cork();
    socket.write(frameHead(opcode, length));
    let mayContinue = true;
    for (const part of parts) mayContinue = socket.write(part);
    socket.uncork();
    return mayContinue;
  }
}
