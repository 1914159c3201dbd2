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
import { ByteReader, ByteWriter } from '../bytes.ts';
import { keyBytesMax } from '../keys.ts';
import { valueBytesMax } from '../limits.ts';
import { failed, frame, FrameInput } from './framing.ts';
import type { Frame } from './framing.ts';

export interface TransferEntry {
  /** Below the exported prefix. */
  readonly key: string;
  readonly value: Uint8Array;
}

const magic = Buffer.from('HANGAR-RANGE-1\n');
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
  const input = new FrameInput(chunks, bodyBytesMax);
  if (!(await input.startsWith(magic))) throw failed('it does not start with the signature of an exported range');
  const first = await input.frame();
  if (first.kind !== kinds.about) return { about: undefined, entries: entriesFrom(first, input, 0) };
  if (first.body.length > aboutBytesMax) throw failed('its description is too long');
  const next = await input.frame();
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
  input: FrameInput,
  aboutChecksum: number,
): AsyncGenerator<TransferEntry, void, void> {
  let count = 0;
  let checksum = aboutChecksum;
  for (let { kind, body } = first; ; { kind, body } = await input.frame()) {
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
