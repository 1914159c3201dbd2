/**
 * Replication frames as a stream of bytes that can be written and read in any chunks.
 *
 *     "HANGAR-REPLICA-1\n"
 *     frame …     length u32 · kind u8 · checksum u32 · fields
 *       entry     place, entry
 *       snapshot  revision, number of entries
 *       part      puts and deletes of the batch that follows, if they do not fit into one frame
 *       batch     revision, revision before, the last puts and deletes
 *       progress  revision, revision before
 *       end       number of frames before it
 *
 * A checksum covers its frame and all frames before it, so a lost, repeated or moved frame is detected at once. A stream that follows its
 * source has no end frame; a complete request has one.
 */

import { crc32 } from 'node:zlib';
import type { LeaseId, Revision } from '../contract.ts';
import { ByteReader, ByteWriter } from '../bytes.ts';
import { StoreError } from '../errors.ts';
import { keyBytesMax } from '../keys.ts';
import { valueBytesMax } from '../limits.ts';
import { failed, frame, FrameInput } from '../transfer/framing.ts';
import type { ReplicaEntry, ReplicaFrame } from './frames.ts';

const magic = Buffer.from('HANGAR-REPLICA-1\n');
const kinds = { entry: 1, snapshot: 2, part: 3, batch: 4, progress: 5, end: 6 } as const;
/** A part of a batch is closed when it has more bytes. */
const partBytes = 256 * 1024;
const bodyBytesMax = partBytes + keyBytesMax + valueBytesMax + 256;
/** Keys and values of a batch that a receiver holds in memory: the deletion of a range has one key for each of its entries. */
const batchBytesMax = 64 * 1024 * 1024;

/** Encodes frames as they come. When `frames` ends, an end frame completes the stream. */
export async function* encodeFrames(
  frames: AsyncIterable<ReplicaFrame> | Iterable<ReplicaFrame>,
): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new Encoder();
  yield magic;
  for await (const one of frames) yield* encoder.encode(one);
  yield encoder.end();
}

/** Encodes a complete stream of these frames. */
export function encodeRequest(frames: readonly ReplicaFrame[]): Buffer {
  const encoder = new Encoder();
  return Buffer.concat([magic, ...frames.flatMap((one) => [...encoder.encode(one)]), encoder.end()]);
}

export interface DecodeOptions {
  /** The stream must have an end frame. Otherwise it may also stop after any frame, as a connection that is closed does. */
  readonly complete: boolean;
}

/** Rejects with `ImportFailed` at the first part that is damaged, truncated, too long or out of order; frames before it are intact. */
export async function* decodeFrames(
  chunks: AsyncIterable<Uint8Array>,
  { complete }: DecodeOptions,
): AsyncGenerator<ReplicaFrame, void, void> {
  const input = new FrameInput(chunks, bodyBytesMax);
  const decoder = new Decoder();
  try {
    if (!(await input.startsWith(magic))) throw failed('it does not start with the signature of a replication stream');
    while (complete || !(await input.ended())) {
      const decoded = decoder.decode(await input.frame());
      if (decoded === 'end') {
        if (!(await input.ended())) throw failed('data follows the end frame');
        return;
      }
      if (decoded) yield decoded;
    }
    if (decoder.isInBatch) throw failed('it is truncated');
  } finally {
    await input.close();
  }
}

/** Continues the checksum of the frames before. */
function chained(checksum: number, kind: number, fields: Uint8Array): number {
  return crc32(fields, crc32(Buffer.of(kind), checksum));
}

class Encoder {
  #checksum = 0;
  #count = 0;

  *encode(one: ReplicaFrame): Generator<Uint8Array, void, void> {
    const fields = new ByteWriter();
    switch (one.type) {
      case 'entry':
        fields.uint(one.place?.snapshot ?? 0).uint(one.place?.index ?? 0);
        writeEntry(fields, one.entry);
        return yield this.#frame(kinds.entry, fields);
      case 'snapshot':
        return yield this.#frame(kinds.snapshot, fields.uint(one.revision).uint((one.entries ?? -1) + 1));
      case 'progress':
        return yield this.#frame(kinds.progress, fields.uint(one.revision).uint(one.after ?? 0));
      case 'batch': {
        let changes = new Changes();
        for (const write of [...one.puts, ...one.deletes]) {
          if (changes.bytes > partBytes) {
            yield this.#frame(kinds.part, changes.appendTo(new ByteWriter()));
            changes = new Changes();
          }
          changes.add(write);
        }
        return yield this.#frame(kinds.batch, changes.appendTo(fields.uint(one.revision).uint(one.after ?? 0)));
      }
    }
  }

  end(): Uint8Array {
    return this.#frame(kinds.end, new ByteWriter().uint(this.#count));
  }

  #frame(kind: number, writer: ByteWriter): Uint8Array {
    const fields = writer.finish();
    this.#checksum = chained(this.#checksum, kind, fields);
    this.#count++;
    const body = Buffer.allocUnsafe(4 + fields.length);
    body.writeUInt32LE(this.#checksum, 0);
    body.set(fields, 4);
    return frame(kind, body);
  }
}

/** Puts and deletes of one frame. */
class Changes {
  readonly #puts = new ByteWriter();
  readonly #deletes = new ByteWriter();
  #counts = { puts: 0, deletes: 0 };

  get bytes(): number {
    return this.#puts.length + this.#deletes.length;
  }

  add(write: ReplicaEntry | string): void {
    if (typeof write === 'string') {
      this.#deletes.string(write);
      this.#counts.deletes++;
    } else {
      writeEntry(this.#puts, write);
      this.#counts.puts++;
    }
  }

  appendTo(fields: ByteWriter): ByteWriter {
    const { puts, deletes } = this.#counts;
    return fields.uint(puts).uint(deletes).bytes(this.#puts.finish()).bytes(this.#deletes.finish());
  }
}

class Decoder {
  #checksum = 0;
  #count = 0;
  #puts: ReplicaEntry[] = [];
  #deletes: string[] = [];
  #batchBytes = 0;

  get isInBatch(): boolean {
    return this.#batchBytes > 0;
  }

  /** Returns undefined for a part of a batch. */
  decode({ kind, body }: { kind: number; body: Buffer }): ReplicaFrame | 'end' | undefined {
    if (body.length < 4) throw failed('a frame has no checksum');
    const fields = body.subarray(4);
    this.#checksum = chained(this.#checksum, kind, fields);
    if (body.readUInt32LE(0) !== this.#checksum) throw failed('a checksum is wrong');
    const reader = new ByteReader(fields);
    try {
      const decoded = this.#decode(kind, reader, fields.length);
      if (!reader.done) throw failed('a frame is longer than its content');
      this.#count++;
      return decoded;
    } catch (error) {
      throw error instanceof StoreError && error.code === 'StorageDamaged'
        ? failed('a frame is shorter than its content', { cause: error })
        : error;
    }
  }

  #decode(kind: number, reader: ByteReader, bytes: number): ReplicaFrame | 'end' | undefined {
    if (kind === kinds.part || kind === kinds.batch) return this.#batch(kind, reader, bytes);
    if (this.isInBatch) throw failed('a batch is not complete');
    switch (kind) {
      case kinds.entry: {
        const [snapshot, index] = [revisionOf(reader), wholeNumber(reader)];
        const entry = readEntry(reader);
        return { type: 'entry', entry, ...(snapshot > 0 && { place: { snapshot, index } }) };
      }
      case kinds.snapshot: {
        const [revision, entries] = [revisionOf(reader), wholeNumber(reader)];
        return { type: 'snapshot', revision, ...(entries > 0 && { entries: entries - 1 }) };
      }
      case kinds.progress: {
        const [revision, after] = [revisionOf(reader), revisionOf(reader)];
        return { type: 'progress', revision, ...(after > 0 && { after }) };
      }
      case kinds.end:
        if (reader.uint() !== this.#count) throw failed('its number of frames is wrong');
        return 'end';
      default:
        throw failed(`a frame has the unknown kind ${kind}`);
    }
  }

  #batch(kind: number, reader: ByteReader, bytes: number): ReplicaFrame | undefined {
    this.#batchBytes += bytes;
    if (this.#batchBytes > batchBytesMax) throw failed(`a batch has more than ${batchBytesMax} bytes`);
    const [revision, after] = kind === kinds.batch ? [revisionOf(reader), revisionOf(reader)] : [];
    this.#readChanges(reader);
    if (revision === undefined) return undefined;
    const [puts, deletes] = [this.#puts, this.#deletes];
    [this.#puts, this.#deletes, this.#batchBytes] = [[], [], 0];
    return { type: 'batch', revision, puts, deletes, ...(after! > 0 && { after }) };
  }

  #readChanges(reader: ByteReader): void {
    const counts = { puts: reader.uint(), deletes: reader.uint() };
    const [puts, deletes] = [new ByteReader(reader.bytes()), new ByteReader(reader.bytes())];
    // The counts may be false claims: reading fails at the end of the bytes.
    for (let at = 0; at < counts.puts; at++) this.#puts.push(readEntry(puts));
    for (let at = 0; at < counts.deletes; at++) this.#deletes.push(deletes.string());
    if (!puts.done || !deletes.done) throw failed('a frame is longer than its content');
  }
}

function writeEntry(out: ByteWriter, { key, value, createRevision, modRevision, version, lease }: ReplicaEntry): void {
  out.string(key).bytes(value).uint(createRevision).uint(modRevision).uint(version);
  out.string(lease?.id ?? '');
  if (lease) out.uint(Math.max(0, Math.ceil(lease.ttlMs)));
}

function readEntry(reader: ByteReader): ReplicaEntry {
  const [key, value] = [reader.string(), reader.bytes()];
  const [createRevision, modRevision, version] = [revisionOf(reader), revisionOf(reader), wholeNumber(reader)];
  const id = reader.string() as LeaseId;
  return {
    key,
    value,
    createRevision,
    modRevision,
    version,
    ...(id !== '' && { lease: { id, ttlMs: wholeNumber(reader) } }),
  };
}

function wholeNumber(reader: ByteReader): number {
  const number = reader.uint();
  if (!Number.isSafeInteger(number)) throw failed(`a frame has the number ${number}, which is too large`);
  return number;
}

const revisionOf = (reader: ByteReader): Revision => wholeNumber(reader) as Revision;
