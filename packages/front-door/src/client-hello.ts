/**
 * Reads the ClientHello at the start of a TLS connection: the server name and the application protocols (RFC 8446, RFC 6066, RFC 7301).
 *
 * Bytes arrive in any pieces, and a ClientHello can be divided between several records:
 *
 *     16 03 01 00 05  01 00 00 0a 03      a record of 5 bytes: a ClientHello of 10 bytes starts
 *     16 03 01 00 09  03 …                the next record has the rest
 *
 * The reader looks at each byte a constant number of times, and keeps at most `bytesMax` of them.
 */

/** A larger ClientHello is refused. One with post-quantum key shares has 2 KiB. */
export const helloBytesMax = 16 * 1024;

export type NotTlsReason =
  | 'http-request'
  | 'record-type'
  | 'record-version'
  | 'record-length'
  | 'not-a-client-hello'
  | 'too-long'
  | 'malformed';

export type ClientHello =
  | { readonly kind: 'incomplete' }
  /** `serverName`: in lower case, without a trailing dot. */
  | { readonly kind: 'server-name'; readonly serverName: string; readonly protocols: readonly string[] }
  | { readonly kind: 'no-server-name'; readonly protocols: readonly string[] }
  | { readonly kind: 'not-tls'; readonly reason: NotTlsReason };

const incomplete: ClientHello = { kind: 'incomplete' };
const notTls = (reason: NotTlsReason): ClientHello => ({ kind: 'not-tls', reason });

const recordHeaderBytes = 5;
const handshakeHeaderBytes = 4;
const recordBytesMax = 2 ** 14;
const handshakeRecord = 22;
const clientHelloMessage = 1;

export class ClientHelloReader {
  readonly #bytesMax: number;
  #bytes = Buffer.allocUnsafe(2048);
  #length = 0;
  /** Start of the current record. */
  #recordAt = 0;
  /** Content of the complete records before it. */
  readonly #fragments: (readonly [start: number, end: number])[] = [];
  #fragmentBytes = 0;
  #result: ClientHello = incomplete;
  #excess: Uint8Array = Buffer.alloc(0);

  constructor(bytesMax = helloBytesMax) {
    this.#bytesMax = bytesMax;
  }

  get result(): ClientHello {
    return this.#result;
  }

  /** All bytes since the start of the connection, up to the limit. Valid until the next `push`. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The bytes of the last `push` that are beyond the limit, and are not in `bytes`. */
  get excess(): Uint8Array {
    return this.#excess;
  }

  /** Returns the result for all bytes until now. A result other than `incomplete` is final. */
  push(chunk: Uint8Array): ClientHello {
    if (this.#result.kind !== 'incomplete') return this.#result;
    this.#append(chunk);
    this.#result = this.#read();
    if (this.#result.kind === 'incomplete' && this.#length === this.#bytesMax) this.#result = notTls('too-long');
    return this.#result;
  }

  #append(chunk: Uint8Array): void {
    const added = chunk.subarray(0, this.#bytesMax - this.#length);
    const needed = this.#length + added.length;
    this.#excess = chunk.subarray(added.length);
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(needed, 2 * this.#bytes.length)));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes.set(added, this.#length);
    this.#length = needed;
  }

  #read(): ClientHello {
    for (;;) {
      const at = this.#recordAt;
      const fault = recordFault(this.#bytes.subarray(at, this.#length), at === 0);
      if (fault) return fault;
      if (this.#length < at + recordHeaderBytes) return incomplete;
      const start = at + recordHeaderBytes;
      const end = start + this.#bytes.readUInt16BE(at + 3);
      const available = Math.min(end, this.#length);
      const result = this.#message([start, available]);
      if (result.kind !== 'incomplete' || available < end) return result;
      this.#fragments.push([start, end]);
      this.#fragmentBytes += end - start;
      this.#recordAt = end;
    }
  }

  /** `last`: the available content of the current record. */
  #message([start, end]: readonly [number, number]): ClientHello {
    const available = this.#fragmentBytes + (end - start);
    if (available === 0) return incomplete;
    const header = this.#joined([start, end], handshakeHeaderBytes);
    if (header[0] !== clientHelloMessage) return notTls('not-a-client-hello');
    if (header.length < handshakeHeaderBytes) return incomplete;
    const needed = handshakeHeaderBytes + header.readUIntBE(1, 3);
    if (needed + recordHeaderBytes > this.#bytesMax) return notTls('too-long');
    if (available < needed) return incomplete;
    return parseClientHello(this.#joined([start, end], needed).subarray(handshakeHeaderBytes));
  }

  /** Returns the first `count` bytes of the content of the records, or fewer. Copies only if there are several records. */
  #joined(last: readonly [number, number], count: number): Buffer {
    const pieces: Buffer[] = [];
    let missing = count;
    for (const [start, end] of this.#fragments) {
      if (missing <= 0) break;
      pieces.push(this.#bytes.subarray(start, Math.min(end, start + missing)));
      missing -= end - start;
    }
    if (missing > 0) pieces.push(this.#bytes.subarray(last[0], Math.min(last[1], last[0] + missing)));
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }
}

/** `bytes`: from the header of a record. Returns undefined while the header is plausible. */
function recordFault(bytes: Buffer, isFirst: boolean): ClientHello | undefined {
  const [type, major] = bytes;
  if (type !== undefined && type !== handshakeRecord) {
    if (!isFirst || !isCapital(type)) return notTls('record-type');
    if (bytes.length < recordHeaderBytes) return incomplete;
    return notTls(looksLikeHttp(bytes) ? 'http-request' : 'record-type');
  }
  if (major !== undefined && major !== 3) return notTls('record-version');
  if (bytes.length < recordHeaderBytes) return undefined;
  const length = bytes.readUInt16BE(3);
  return length === 0 || length > recordBytesMax ? notTls('record-length') : undefined;
}

const isCapital = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a;

/** The first five bytes of requests, with the preface of HTTP/2. */
const requestStarts = new Set([
  'GET /',
  'HEAD ',
  'POST ',
  'PUT /',
  'PATCH',
  'DELET',
  'OPTIO',
  'CONNE',
  'TRACE',
  'PRI *',
]);

const looksLikeHttp = (bytes: Buffer): boolean => requestStarts.has(bytes.toString('latin1', 0, recordHeaderBytes));

const serverNameExtension = 0;
const protocolsExtension = 16;

/** `body`: the message without its header. With Encrypted Client Hello, the name is the outer one. */
function parseClientHello(body: Buffer): ClientHello {
  const reader = new VectorReader(body);
  reader.skip(2 + 32); // legacy_version, random
  reader.vector(1, 0, 32); // legacy_session_id
  reader.vector(2, 2); // cipher_suites
  reader.vector(1, 1); // legacy_compression_methods
  // A ClientHello of TLS 1.2 and older can end here.
  const extensions = reader.isAtEnd ? reader : reader.vector(2);
  if (reader.isFaulty || !reader.isAtEnd) return notTls('malformed');
  return readExtensions(extensions);
}

function readExtensions(extensions: VectorReader): ClientHello {
  const seen = new Set<number>();
  let serverName: string | undefined;
  let protocols: readonly string[] = [];
  while (!extensions.isAtEnd && !extensions.isFaulty) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (extensions.isFaulty || seen.has(type)) return notTls('malformed');
    seen.add(type);
    if (type === serverNameExtension) {
      const name = readServerName(content);
      if (name === undefined) return notTls('malformed');
      serverName = name;
    } else if (type === protocolsExtension) {
      const names = readProtocols(content);
      if (!names) return notTls('malformed');
      protocols = names;
    }
  }
  if (extensions.isFaulty) return notTls('malformed');
  return serverName === undefined
    ? { kind: 'no-server-name', protocols }
    : { kind: 'server-name', serverName, protocols };
}

const hostNameType = 0;

/** Undefined: malformed. The list can have names of other types, but only one host name. */
function readServerName(content: VectorReader): string | undefined {
  const names = content.vector(2, 1);
  let found: string | undefined;
  while (!names.isAtEnd && !names.isFaulty) {
    const type = names.number(1);
    const name = names.vector(2, 1).text();
    if (type !== hostNameType) continue;
    if (found !== undefined) return undefined;
    found = name;
  }
  if (names.isFaulty || content.isFaulty || !content.isAtEnd || found === undefined) return undefined;
  return normalizedHost(found);
}

function readProtocols(content: VectorReader): readonly string[] | undefined {
  const list = content.vector(2, 2);
  const protocols: string[] = [];
  while (!list.isAtEnd && !list.isFaulty) protocols.push(list.vector(1, 1).text());
  return list.isFaulty || content.isFaulty || !content.isAtEnd ? undefined : protocols;
}

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const hostName = new RegExp(`^${label}(?:\\.${label})*$`);

/** Returns a host name in lower case and without a trailing dot. Undefined: it is not a host name. */
export function normalizedHost(host: string): string | undefined {
  if (host.length > 254) return undefined;
  const normalized = host.toLowerCase().replace(/\.$/, '');
  return normalized.length <= 253 && hostName.test(normalized) ? normalized : undefined;
}

/** Reads numbers and vectors with a length prefix. After a fault, all results are empty. */
class VectorReader {
  readonly #bytes: Buffer;
  #at = 0;
  isFaulty = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  text(): string {
    return this.#bytes.toString('latin1');
  }

  skip(count: number): void {
    if (this.#at + count > this.#bytes.length) this.isFaulty = true;
    else this.#at += count;
  }

  number(bytes: 1 | 2): number {
    const at = this.#at;
    this.skip(bytes);
    return this.isFaulty ? 0 : this.#bytes.readUIntBE(at, bytes);
  }

  /** `prefix`: bytes of the length. */
  vector(prefix: 1 | 2, lengthMin = 0, lengthMax = Infinity): VectorReader {
    const length = this.number(prefix);
    const at = this.#at;
    this.skip(length);
    if (length < lengthMin || length > lengthMax) this.isFaulty = true;
    return new VectorReader(this.isFaulty ? Buffer.alloc(0) : this.#bytes.subarray(at, at + length));
  }
}
