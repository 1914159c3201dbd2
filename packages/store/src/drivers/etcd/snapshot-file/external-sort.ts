/**
 * Sorts records by a number in bounded memory: runs of some megabytes are sorted in memory and appended to a file, then merged. Records with the
 * same number stay in the order in which they were added.
 *
 *     memory   run 1: 3 5 9 │ run 2: 2 5 8 │ …      in the file: number u64 · length u32 · bytes
 *     merged   2 3 5 5 8 9 …
 */

import type { FileHandle } from 'node:fs/promises';
import { readExactly } from './block-reader.ts';
import { writeAll } from './bolt-file-writer.ts';

export interface SortedRecord {
  readonly number: bigint;
  readonly bytes: Buffer;
}

export interface ExternalSortOptions {
  /** Size of a run. Absent: 4 MiB. */
  readonly runBytesMax?: number;
}

interface Run {
  readonly start: number;
  readonly end: number;
}

const headerBytes = 12;
/** Approximate memory of a record beside its bytes. */
const recordOverheadBytes = 160;
/** For reading all runs at once. */
const mergeBytesMax = 16 * 2 ** 20;

export class ExternalSort {
  readonly #file: FileHandle;
  readonly #runBytesMax: number;
  #records: SortedRecord[] = [];
  #bytes = 0;
  readonly #runs: Run[] = [];
  #fileBytes = 0;
  #buffer: Buffer = Buffer.alloc(0);

  /** `file` is empty, and used by no other. The caller closes and removes it. */
  constructor(file: FileHandle, options: ExternalSortOptions = {}) {
    this.#file = file;
    this.#runBytesMax = options.runBytesMax ?? 4 * 2 ** 20;
  }

  /** Keeps `bytes`. Returns a promise only when a run is written: wait for it before the next call. */
  add(number: bigint, bytes: Buffer): Promise<void> | undefined {
    this.#records.push({ number, bytes });
    this.#bytes += bytes.length + recordOverheadBytes;
    return this.#bytes < this.#runBytesMax ? undefined : this.#writeRun();
  }

  /** Yields all records in the order of their numbers. To be called once, after the last `add`. */
  async *sorted(): AsyncGenerator<SortedRecord, void, void> {
    if (this.#runs.length === 0) return yield* sortRecords(this.#records);
    if (this.#records.length > 0) await this.#writeRun();
    this.#buffer = Buffer.alloc(0);
    const blockBytes = Math.max(16_384, Math.min(2 ** 20, Math.floor(mergeBytesMax / this.#runs.length)));
    const readers: RunReader[] = [];
    for (const run of this.#runs) {
      const reader = new RunReader(this.#file, run, blockBytes);
      await reader.advance();
      // Behind readers of earlier runs with the same number.
      if (reader.record) readers.splice(placeOf(readers, reader), 0, reader);
    }
    while (readers.length > 0) {
      const reader = readers.shift()!;
      yield reader.record!;
      if (!reader.next()) await reader.advance();
      if (reader.record) readers.splice(placeOf(readers, reader), 0, reader);
    }
  }

  async #writeRun(): Promise<void> {
    const run = this.#encode(sortRecords(this.#records));
    const start = this.#fileBytes;
    this.#fileBytes += run.length;
    [this.#records, this.#bytes] = [[], 0];
    this.#runs.push({ start, end: this.#fileBytes });
    await writeAll(this.#file, [run], start);
  }

  /** Returns a view of a buffer that the next run uses again. */
  #encode(records: readonly SortedRecord[]): Buffer {
    let length = 0;
    for (const { bytes } of records) length += headerBytes + bytes.length;
    if (this.#buffer.length < length) this.#buffer = Buffer.allocUnsafe(length);
    const buffer = this.#buffer;
    let at = 0;
    for (const { number, bytes } of records) {
      buffer.writeBigUInt64BE(number, at);
      buffer.writeUInt32BE(bytes.length, at + 8);
      at += headerBytes;
      at += bytes.copy(buffer, at);
    }
    return buffer.subarray(0, length);
  }
}

/** Array.sort is stable. */
const sortRecords = (records: SortedRecord[]): SortedRecord[] =>
  records.sort((a, b) => (a.number < b.number ? -1 : a.number > b.number ? 1 : 0));

/** Reads one run in blocks. */
class RunReader {
  readonly #file: FileHandle;
  readonly #blockBytes: number;
  readonly start: number;
  readonly #end: number;
  #position: number;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Undefined after the last record of the run. */
  record: SortedRecord | undefined;

  constructor(file: FileHandle, { start, end }: Run, blockBytes: number) {
    this.#file = file;
    this.#blockBytes = blockBytes;
    this.start = start;
    this.#position = start;
    this.#end = end;
  }

  /** Moves to the next record if the block has it. */
  next(): boolean {
    const [block, at] = [this.#block, this.#at];
    const bodyAt = at + headerBytes;
    if (bodyAt > block.length) return false;
    const end = bodyAt + block.readUInt32BE(at + 8);
    if (end > block.length) return false;
    this.record = { number: block.readBigUInt64BE(at), bytes: block.subarray(bodyAt, end) };
    this.#at = end;
    return true;
  }

  /** Moves to the next record, and reads a block if necessary. */
  async advance(): Promise<void> {
    for (let wantedBytes = this.#blockBytes; ; wantedBytes *= 2) {
      if (this.next()) return;
      const left = this.#block.subarray(this.#at);
      const length = Math.min(this.#end - this.#position, wantedBytes);
      if (length === 0) return void (this.record = undefined);
      this.#block = Buffer.concat([left, await readExactly(this.#file, this.#position, length)]);
      this.#at = 0;
      this.#position += length;
    }
  }
}

/** The place among readers that are in order. Equal numbers are in the order of their runs. */
function placeOf(readers: readonly RunReader[], reader: RunReader): number {
  let [low, high] = [0, readers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(reader, readers[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const isBefore = (a: RunReader, b: RunReader): boolean =>
  a.record!.number === b.record!.number ? a.start < b.start : a.record!.number < b.record!.number;
