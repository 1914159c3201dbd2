/** Just enough HTTP/1.1: requests with a length, replies with a length or in chunks. */

import type { Codec, Reply } from './connection.ts';

const headEnd = Buffer.from('\r\n\r\n');

export class Http1 implements Codec {
  onReply: (reply: Reply) => void = () => undefined;
  onPiece: ((piece: Buffer) => void) | undefined;
  onAnswer: (bytes: Buffer) => void = () => undefined;
  readonly #host: string;
  #buffered: Buffer[] = [];
  #length = 0;
  /** Of the reply that is coming: its status, where its body begins, how long it is (−1: in chunks). */
  #head: { status: number; bodyAt: number; bodyLength: number } | undefined;

  constructor(port: number) {
    this.#host = `127.0.0.1:${port}`;
  }

  encode(_id: number, method: string, path: string, headers: Readonly<Record<string, string>>, body: Buffer): Buffer[] {
    let text = `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n`;
    for (const [name, value] of Object.entries(headers)) text += `${name}: ${value}\r\n`;
    if (body.length > 0) text += `Content-Length: ${body.length}\r\n`;
    const head = Buffer.from(`${text}\r\n`, 'latin1');
    return body.length > 0 ? [head, body] : [head];
  }

  feed(bytes: Buffer): void {
    if (this.onPiece) {
      this.onPiece(bytes);
      return;
    }
    this.#buffered.push(bytes);
    this.#length += bytes.length;
    if (!this.#head) this.#readHead();
    const head = this.#head;
    if (!head) return;
    if (head.bodyLength >= 0) {
      if (this.#length >= head.bodyAt + head.bodyLength) this.#finish(head.bodyAt, head.bodyLength);
      return;
    }
    const all = this.#joined();
    if (all.subarray(-5).equals(Buffer.from('0\r\n\r\n'))) this.#finish(head.bodyAt, all.length - head.bodyAt);
  }

  #joined(): Buffer {
    if (this.#buffered.length > 1) this.#buffered = [Buffer.concat(this.#buffered, this.#length)];
    return this.#buffered[0]!;
  }

  #readHead(): void {
    const all = this.#joined();
    const end = all.indexOf(headEnd);
    if (end < 0) return;
    const text = all.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    this.#head = {
      status: Number(text.slice(9, 12)),
      bodyAt: end + 4,
      bodyLength: length === undefined ? -1 : Number(length),
    };
  }

  #finish(bodyAt: number, bodyLength: number): void {
    const all = this.#joined();
    const { status } = this.#head!;
    this.#buffered = [];
    this.#length = 0;
    this.#head = undefined;
    this.onReply({ status, body: all.subarray(bodyAt, bodyAt + bodyLength) });
  }
}
