/** Test fixture: the client side of WebSocket, on a connection that was upgraded. */

import type { Duplex } from 'node:stream';

export const webSocketHeaders = (protocol?: string): Record<string, string> => ({
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.from('0123456789abcdef').toString('base64'),
  ...(protocol === undefined ? {} : { 'sec-websocket-protocol': protocol }),
});

const mask = Buffer.from([1, 2, 3, 4]);

/** Returns a masked frame. */
export function clientFrame(opcode: number, payload: Buffer, { isFinal = true } = {}): Buffer {
  const length = payload.length;
  const extended = length < 126 ? Buffer.alloc(0) : Buffer.alloc(length < 65_536 ? 2 : 8);
  if (extended.length === 2) extended.writeUInt16BE(length);
  if (extended.length === 8) extended.writeBigUInt64BE(BigInt(length));
  const short = extended.length === 0 ? length : extended.length === 2 ? 126 : 127;
  const masked = Buffer.from(payload.map((byte, at) => byte ^ mask[at & 3]!));
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | short]), extended, mask, masked]);
}

export interface Message {
  readonly opcode: number;
  readonly payload: Buffer;
}

export class WebSocketClient {
  readonly socket: Duplex;
  readonly messages: Message[] = [];
  #received = Buffer.alloc(0);
  #onChange: (() => void) | undefined;
  isClosed = false;

  constructor(socket: Duplex) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#push(bytes);
      this.#onChange?.();
    });
    socket.once('close', () => {
      this.isClosed = true;
      this.#onChange?.();
    });
  }

  send(payload: Buffer | readonly number[]): void {
    this.socket.write(clientFrame(2, Buffer.from(payload as Buffer)));
  }

  /** Returns the next message, or undefined if the connection is closed. */
  async next(): Promise<Message | undefined> {
    while (this.messages.length === 0) {
      if (this.isClosed) return undefined;
      await new Promise<void>((resolve) => (this.#onChange = resolve));
    }
    return this.messages.shift();
  }

  #push(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const data = this.#received;
      if (data.length < 2) return;
      const short = data[1]! & 0x7f;
      const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
      if (data.length < 2 + extended) return;
      const length = extended === 0 ? short : extended === 2 ? data.readUInt16BE(2) : Number(data.readBigUInt64BE(2));
      if (data.length < 2 + extended + length) return;
      const payload = Buffer.from(data.subarray(2 + extended, 2 + extended + length));
      this.messages.push({ opcode: data[0]! & 0x0f, payload });
      this.#received = Buffer.from(data.subarray(2 + extended + length));
    }
  }
}
