/** Test fixture: the side of a kubelet in SPDY/3.1, written independently of the client: it inflates headers with the dictionary. */

import type { Duplex } from 'node:stream';
import { constants, inflateSync } from 'node:zlib';

const words =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization cache-control connection content-base content-encoding content-language content-length content-location content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status';
const moreWords = ['200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie', 'keep-alive', 'origin'];
const tail =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

const prefixed = (word: string): Buffer => {
  const bytes = Buffer.from(word);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

const dictionary = Buffer.concat([...[...words.split(' '), ...moreWords].map(prefixed), Buffer.from(tail)]);

export interface PeerHandler {
  /** A stream was opened: `type` is its header `streamtype`. */
  opened?(type: string, peer: SpdyPeer): void;
  data?(type: string, bytes: Buffer, peer: SpdyPeer): void;
  fin?(type: string, peer: SpdyPeer): void;
}

export class SpdyPeer {
  readonly socket: Duplex;
  /** Types of the streams in the order in which they were opened. */
  readonly types: string[] = [];
  readonly pongs: number[] = [];
  readonly #handler: PeerHandler;
  readonly #ids = new Map<string, number>();
  #received = Buffer.alloc(0);
  #compressed = Buffer.alloc(0);
  #plainLength = 0;

  constructor(socket: Duplex, handler: PeerHandler) {
    this.socket = socket;
    this.#handler = handler;
    socket.on('data', (bytes: Buffer) => this.#push(bytes));
    socket.once('end', () => socket.end());
  }

  /** Returns false if the client does not keep up. */
  send(type: string, data: string | Buffer, isLast = false): boolean {
    const bytes = Buffer.from(data as string);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(this.#ids.get(type)!, 0);
    head.writeUInt32BE(bytes.length, 4);
    head[4] = isLast ? 1 : 0;
    return this.socket.write(Buffer.concat([head, bytes]));
  }

  ping(id: number): void {
    const frame = Buffer.from([0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 0]);
    frame.writeUInt32BE(id, 8);
    this.socket.write(frame);
  }

  #push(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= 8) {
      const length = this.#received.readUInt32BE(4) & 0xffffff;
      if (this.#received.length < 8 + length) return;
      const frame = this.#received.subarray(0, 8 + length);
      this.#received = Buffer.from(this.#received.subarray(8 + length));
      this.#frame(frame, frame.subarray(8));
    }
  }

  #frame(head: Buffer, body: Buffer): void {
    if ((head[0]! & 0x80) === 0) {
      const type = this.#typeOf(head.readUInt32BE(0));
      if (body.length > 0) this.#handler.data?.(type, Buffer.from(body), this);
      if (head[4] === 1) this.#handler.fin?.(type, this);
      return;
    }
    const kind = head.readUInt16BE(2);
    if (kind === 6) this.pongs.push(body.readUInt32BE(0));
    if (kind !== 1) return;
    const id = body.readUInt32BE(0);
    const type = this.#headers(body.subarray(10))['streamtype'] ?? '';
    this.#ids.set(type, id);
    this.types.push(type);
    // A SYN_REPLY without headers: the client does not read them.
    const reply = Buffer.from([0x80, 3, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0]);
    reply.writeUInt32BE(id, 8);
    this.socket.write(reply);
    this.#handler.opened?.(type, this);
  }

  #typeOf(id: number): string {
    return [...this.#ids].find(([, known]) => known === id)![0];
  }

  #headers(compressed: Buffer): Record<string, string> {
    this.#compressed = Buffer.concat([this.#compressed, compressed]);
    const all = inflateSync(this.#compressed, { dictionary, finishFlush: constants.Z_SYNC_FLUSH });
    const plain = all.subarray(this.#plainLength);
    this.#plainLength = all.length;
    const texts: string[] = [];
    for (let at = 4; at < plain.length;) {
      const length = plain.readUInt32BE(at);
      texts.push(plain.toString('utf8', at + 4, at + 4 + length));
      at += 4 + length;
    }
    return { [texts[0]!]: texts[1]! };
  }
}
