/**
 * The format of an exported range: a stream that can be written and read in any chunks.
 *
 *     "HANGAR-RANGE-1\n"
 *     frame …    length u32 · kind u8 · body
 *       about    at most one, the first: metadata of the exporter, in its own format
 *       entry    key below the prefix, value
 *       end      number of entries, checksum over all bodies before it
 *
 * Without the end frame the stream is incomplete; with it, every bit was checked.
 */

import { crc32 } from 'node:zlib';
import { ChunkReader } from '@hangar/core';
import { ByteReader, ByteWriter } from '../bytes.ts';
import { StoreError } from '../errors.ts';
import { keyBytesMax } from '../keys.ts';
import { valueBytesMax } from '../limits.ts';

export interface TransferEntry {
  /** Below the exported prefix. */
  readonly key: string;
  readonly value: Uint8Array;
}

const magic = Buffer.from('HANGAR-RANGE-1\n');
const headerBytes = 5;
const kinds = { entry: 1, end: 2, about: 3 } as const;
/** Key, value and their lengths: a frame that claims to be longer is invalid, and must not be buffered. */
const bodyBytesMax = keyBytesMax + valueBytesMax + 32;
const aboutBytesMax = 64 * 1024;

export async function* encodeEntries(
  entries: AsyncIterable<TransferEntry>,
  about?: Uint8Array,
): AsyncGenerator<Uint8Array, void, void> {
  yield magic;
  let count = 0;
  let checksum = about ? crc32(about) : 0;
  if (about) yield frame(kinds.about, about);
  for await (const { key, value } of entries) {
    const body = new ByteWriter().string(key).bytes(value).finish();
    checksum = crc32(body, checksum);
    count++;
    yield frame(kinds.entry, body);
  }
  yield frame(kinds.end, endBody(count, checksum));
}

function endBody(count: number, checksum: number): Uint8Array {
  return new ByteWriter().uint(count).uint(checksum).finish();
}

export interface Transfer {
  /** Metadata of the exporter. Not verified until the end frame was read. */
  readonly about: Uint8Array | undefined;
  /** Throws `ImportFailed` on the first damaged part. */
  readonly entries: AsyncGenerator<TransferEntry, void, void>;
}

/** Rejects with `ImportFailed` if the stream does not begin like an exported range. */
export async function readTransfer(chunks: AsyncIterable<Uint8Array>): Promise<Transfer> {
  const input = new Input(chunks);
  if (!magic.equals(await input.take(magic.length)))
    throw failed('it does not start with the signature of an exported range');
  const first = await takeFrame(input);
  if (first.kind !== kinds.about) return { about: undefined, entries: entriesFrom(first, input, 0) };
  if (first.body.length > aboutBytesMax) throw failed('its description is too long');
  const next = await takeFrame(input);
  return { about: first.body, entries: entriesFrom(next, input, crc32(first.body)) };
}

/** Decodes a stream without metadata. Throws `ImportFailed` on the first damaged part. */
export async function* decodeEntries(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TransferEntry, void, void> {
  const { about, entries } = await readTransfer(chunks);
  if (about) throw failed('it has a description, but a plain range must not have one');
  yield* entries;
}

async function* entriesFrom(
  first: Frame,
  input: Input,
  aboutChecksum: number,
): AsyncGenerator<TransferEntry, void, void> {
  let count = 0;
  let checksum = aboutChecksum;
  for (let { kind, body } = first; ; { kind, body } = await takeFrame(input)) {
    if (kind === kinds.end) {
      // Compared as bytes: a longer body, or a longer notation of the same numbers, is damage too.
      if (!body.equals(endBody(count, checksum))) throw failed('its checksum is wrong');
      if (!(await input.ended())) throw failed('data follows the end frame');
      return;
    }
    if (kind !== kinds.entry) throw failed(`a frame has the unknown kind ${kind}`);
    checksum = crc32(body, checksum);
    count++;
    const reader = new ByteReader(body);
    yield { key: reader.string(), value: reader.bytes() };
  }
}

interface Frame {
  readonly kind: number;
  readonly body: Buffer;
}

async function takeFrame(input: Input): Promise<Frame> {
  const header = await input.take(headerBytes);
  const length = header.readUInt32LE(0);
  if (length > bodyBytesMax) throw failed(`a frame of ${length} bytes is too long`);
  return { kind: header[4]!, body: await input.take(length) };
}

export function failed(problem: string, options?: ErrorOptions): StoreError {
  return new StoreError('ImportFailed', `the stream cannot be imported: ${problem}`, options);
}

function frame(kind: number, body: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(headerBytes + body.length);
  bytes.writeUInt32LE(body.length, 0);
  bytes[4] = kind;
  bytes.set(body, headerBytes);
  return bytes;
}

/** The exported stream, in pieces of the requested size. */
class Input {
  readonly #reader: ChunkReader;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#reader = new ChunkReader(chunks);
  }

  async take(length: number): Promise<Buffer> {
    const taken = await this.#reader.take(length);
    if (!taken) throw failed('it is truncated');
    return taken;
  }

  ended(): Promise<boolean> {
    return this.#reader.isEmpty();
  }
}
