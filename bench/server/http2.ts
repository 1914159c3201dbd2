/** Just enough HTTP/2: one stream at a time, headers never indexed, windows opened wide and topped up. */

import type { Codec, Reply } from './connection.ts';

const dataFrame = 0;
const headersFrame = 1;
const settingsFrame = 4;
const pingFrame = 6;
const windowFrame = 8;
const endStream = 1;
const endHeaders = 4;
const acknowledged = 1;

/** A quarter of it read, and it is topped up. */
const windowBytes = 16 * 1024 * 1024;

/** Positions in HPACK's static table of the statuses that servers send. */
const indexedStatus: Readonly<Record<number, number>> = { 8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500 };

export class Http2 implements Codec {
  onReply: (reply: Reply) => void = () => undefined;
  onPiece: ((piece: Buffer) => void) | undefined;
  onAnswer: (bytes: Buffer) => void = () => undefined;
  readonly #host: string;
  #buffered: Buffer = Buffer.alloc(0);
  #status = 0;
  #body: Buffer[] = [];
  #unacknowledged = 0;

  constructor(port: number) {
    this.#host = `127.0.0.1:${port}`;
  }

  preface(): Buffer {
    const settings = Buffer.alloc(18);
    settings.writeUInt16BE(1, 0); // no dynamic table: every status can be read by itself
    settings.writeUInt16BE(2, 6); // no pushes
    settings.writeUInt16BE(4, 12); // window of a stream
    settings.writeUInt32BE(windowBytes, 14);
    return Buffer.concat([
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1'),
      frame(settingsFrame, 0, 0, settings),
      windowUpdate(0, windowBytes),
    ]);
  }

  encode(id: number, method: string, path: string, headers: Readonly<Record<string, string>>, body: Buffer): Buffer[] {
    const fields: [string, string][] = [
      [':method', method],
      [':scheme', 'https'],
      [':path', path],
      [':authority', this.#host],
      ...Object.entries(headers),
    ];
    const block = Buffer.concat(fields.map(([name, value]) => literal(name, value)));
    const stream = 2 * id + 1;
    const head = frame(headersFrame, endHeaders | (body.length === 0 ? endStream : 0), stream, block);
    return body.length === 0 ? [head] : [head, frame(dataFrame, endStream, stream, body)];
  }

  feed(bytes: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? bytes : Buffer.concat([this.#buffered, bytes]);
    let at = 0;
    while (this.#buffered.length - at >= 9) {
      const length = this.#buffered.readUIntBE(at, 3);
      if (this.#buffered.length - at < 9 + length) break;
      const [type, flags] = [this.#buffered[at + 3]!, this.#buffered[at + 4]!];
      this.#frame(type, flags, this.#buffered.subarray(at + 9, at + 9 + length));
      at += 9 + length;
    }
    this.#buffered = this.#buffered.subarray(at);
  }

  #frame(type: number, flags: number, payload: Buffer): void {
    if (type === dataFrame) this.#data(payload);
    else if (type === headersFrame && this.#status === 0) this.#status = statusOf(payload);
    else if (type === settingsFrame && !(flags & acknowledged))
      this.onAnswer(frame(settingsFrame, acknowledged, 0, Buffer.alloc(0)));
    else if (type === pingFrame && !(flags & acknowledged)) this.onAnswer(frame(pingFrame, acknowledged, 0, payload));
    if ((type === dataFrame || type === headersFrame) && flags & endStream) {
      const reply = {
        status: this.#status,
        body: this.#body.length === 1 ? this.#body[0]! : Buffer.concat(this.#body),
      };
      this.#status = 0;
      this.#body = [];
      this.onReply(reply);
    }
  }

  #data(payload: Buffer): void {
    if (this.onPiece) this.onPiece(payload);
    else this.#body.push(payload);
    this.#unacknowledged += payload.length;
    if (this.#unacknowledged < windowBytes / 4) return;
    this.onAnswer(windowUpdate(0, this.#unacknowledged));
    this.#unacknowledged = 0;
  }
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(9 + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  payload.copy(bytes, 9);
  return bytes;
}

function windowUpdate(stream: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(windowFrame, 0, stream, payload);
}

/** A header field by name and value, not indexed. Names and values up to 16 KiB. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest = bytes.length - 127;
  const length = rest < 128 ? [127, rest] : [127, (rest & 127) | 128, rest >> 7];
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** Servers send the status first: indexed, or literal with the name `:status` from the table. */
function statusOf(block: Buffer): number {
  let at = 0;
  // Updates of the dynamic table's size come before everything.
  while ((block[at]! & 0xe0) === 0x20) at++;
  const first = block[at]!;
  if (first & 0x80) return indexedStatus[first & 0x7f] ?? 0;
  const length = block[at + 1]!;
  const value = block.subarray(at + 2, at + 2 + (length & 0x7f));
  return length & 0x80 ? huffmanDigits(value) : Number(value.toString('latin1'));
}

/** Three digits: `0`, `1`, `2` take five bits, the others six. */
function huffmanDigits(bytes: Buffer): number {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  let [at, digits] = [0, ''];
  while (digits.length < 3) {
    const five = Number.parseInt(bits.slice(at, at + 5), 2);
    if (five < 3) {
      digits += five;
      at += 5;
    } else {
      digits += Number.parseInt(bits.slice(at, at + 6), 2) - 0x19 + 3;
      at += 6;
    }
  }
  return Number(digits);
}
