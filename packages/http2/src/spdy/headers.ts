/** Reads the headers of streams. All blocks of a connection form one zlib stream with the dictionary of SPDY/3. */

import { constants, inflateRawSync } from 'node:zlib';
import { SpdyError } from './frames.ts';

const words =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization cache-control connection content-base content-encoding content-language content-length content-location content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status';
const moreWords = ['200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie', 'keep-alive', 'origin'];
const tail =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

function prefixed(word: string): Buffer {
  const bytes = Buffer.from(word);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Built on first use. */
let dictionary: Buffer | undefined;
export const dictionaryBytes = (): Buffer =>
  (dictionary ??= Buffer.concat([...[...words.split(' '), ...moreWords].map(prefixed), Buffer.from(tail)]));

/** The zlib header and the checksum of the dictionary. */
const zlibHeadBytes = 6;
/** Window of deflate. */
const windowBytes = 32 * 1024;
const headersBytesMax = 64 * 1024;

export class HeaderReader {
  /** Text that the next block can refer to. Blocks end at a byte, so each is inflated alone. */
  #window: Buffer = dictionaryBytes();
  #isFirst = true;

  /** Returns the headers of a block, with lower-case names. Throws a SpdyError. */
  read(block: Buffer): Record<string, string> {
    const raw = this.#isFirst ? block.subarray(zlibHeadBytes) : block;
    this.#isFirst = false;
    try {
      const plain = inflateRawSync(raw, {
        dictionary: this.#window,
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: headersBytesMax,
      });
      this.#window = Buffer.concat([this.#window, plain]).subarray(-windowBytes);
      return parsed(plain);
    } catch (cause) {
      throw new SpdyError('ProtocolError', 'the headers of a stream are invalid', { cause });
    }
  }
}

function parsed(plain: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  let at = 4;
  const text = (): string => {
    const length = plain.readUInt32BE(at);
    const value = plain.toString('utf8', at + 4, at + 4 + length);
    at += 4 + length;
    return value;
  };
  for (let left = plain.readUInt32BE(0); left > 0; left--) {
    const name = text().toLowerCase();
    headers[name] = text();
  }
  return headers;
}
