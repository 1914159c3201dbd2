/**
 * The memory driver's durability: a file of groups, each written and synced as one record before it is acknowledged.
 *
 *     file    "HANGAR1\n"  record  record  …
 *     record  length u32 · checksum u32 · number u32 · mutations        number: 0, 1, 2, … in each file
 *
 * A crash can tear only the last record, which was not acknowledged: recovery drops it. An unreadable record with a readable one behind it
 * is damage, and refused.
 */

import { crc32 } from 'node:zlib';
import type { Disk, DiskFile } from '@hangar/core';
import { ByteReader, ByteWriter } from '../../bytes.ts';
import { storageError, StoreError } from '../../errors.ts';
import { decodeMutation, encodeMutation } from './mutation.ts';
import type { Mutation } from './mutation.ts';

const magic = Buffer.from('HANGAR1\n');
const headerBytes = 12;

export class Journal {
  readonly #disk: Disk;
  readonly #directory: string;
  #file: DiskFile;
  /** Offset of the next record: behind the last one that is known to be whole. */
  #end: number;
  #number: number;
  /** A failed write may have left bytes behind `#end`, which must be removed before the next write. */
  #dirty = false;
  /** The file's name is not durable yet: until then, nothing may rely on this file. */
  #unnamed = false;

  private constructor(disk: Disk, directory: string, opened: { file: DiskFile; end: number; number: number }) {
    this.#disk = disk;
    this.#directory = directory;
    this.#file = opened.file;
    this.#end = opened.end;
    this.#number = opened.number;
  }

  get bytes(): number {
    return this.#end;
  }

  /** Opens or creates the journal in the directory and passes every durable group to `replay`, in order. */
  static async open(disk: Disk, directory: string, replay: (group: Mutation[]) => void): Promise<Journal> {
    const path = `${directory}/journal`;
    let file: DiskFile | undefined;
    try {
      file = await openFile(disk, directory);
      // A process that exited between naming the file and syncing the directory left the sync to the next process.
      await disk.syncDirectory(directory);
      const size = await file.size();
      const content = await file.read(0, size);
      if (!magic.equals(content.subarray(0, magic.length))) throw damaged(path, 0);
      const { end, number } = replayRecords(path, content, replay);
      if (end < size) await file.truncate(end);
      // A killed process leaves records that are only in the page cache: sync them before they are read.
      await file.sync();
      return new Journal(disk, directory, { file, end, number });
    } catch (error) {
      await file?.close().catch(() => {});
      throw error instanceof StoreError ? error : storageError(error, `${path} cannot be opened`);
    }
  }

  /** Resolves when the group is durable; when it rejects, the group is not in the journal (but see `StorageFailed`). */
  async append(group: readonly Mutation[]): Promise<void> {
    const record = encodeRecord(this.#number, group);
    try {
      await this.#clean();
      this.#dirty = true;
      await this.#file.write(this.#end, record);
    } catch (error) {
      throw storageError(error, 'the journal cannot be written');
    }
    try {
      await this.#file.sync();
    } catch (error) {
      throw new StoreError('StorageFailed', 'the journal could not be synced', { cause: error });
    }
    this.#dirty = false;
    this.#end += record.length;
    this.#number++;
  }

  /** Replaces the journal by one that holds only `snapshot`. After a crash either the old or the new one exists. */
  async rewrite(snapshot: Iterable<Mutation>): Promise<void> {
    const record = encodeRecord(0, [...snapshot]);
    const old = this.#file;
    this.#file = await newFile(this.#disk, this.#directory, record);
    this.#end = magic.length + record.length;
    this.#number = 1;
    this.#dirty = false;
    this.#unnamed = true;
    await old.close().catch(() => {}); // its content is no longer needed
    await this.#clean();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #clean(): Promise<void> {
    if (this.#unnamed) await this.#disk.syncDirectory(this.#directory);
    this.#unnamed = false;
    if (!this.#dirty) return;
    await this.#file.truncate(this.#end);
    await this.#file.sync();
    this.#dirty = false;
  }
}

async function openFile(disk: Disk, directory: string): Promise<DiskFile> {
  try {
    return await disk.open(`${directory}/journal`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return newFile(disk, directory, new Uint8Array());
  }
}

/**
 * A synced journal of one record, made under another name: a file that bears the journal's name always has its header, so a file without a
 * header is truncated. The name itself is not durable yet.
 */
async function newFile(disk: Disk, directory: string, record: Uint8Array): Promise<DiskFile> {
  const unfinished = `${directory}/journal.next`;
  const file = await disk.open(unfinished, { create: true });
  try {
    await file.truncate(0);
    await file.write(0, Buffer.concat([magic, record]));
    await file.sync();
    await disk.rename(unfinished, `${directory}/journal`);
    return file;
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
}

function encodeRecord(number: number, group: readonly Mutation[]): Uint8Array {
  const out = new ByteWriter();
  for (const mutation of group) encodeMutation(out, mutation);
  const payload = out.finish();
  const record = Buffer.alloc(headerBytes + payload.length);
  record.writeUInt32LE(payload.length, 0);
  record.writeUInt32LE(number, 8);
  record.set(payload, headerBytes);
  record.writeUInt32LE(crc32(record.subarray(8)), 4);
  return record;
}

function replayRecords(path: string, content: Uint8Array, replay: (group: Mutation[]) => void) {
  let end = magic.length;
  let number = 0;
  for (let payload = readRecord(content, end, number); payload; payload = readRecord(content, end, number)) {
    replay(decodeGroup(path, end, payload));
    end += headerBytes + payload.length;
    number++;
  }
  if (hasRecordBehind(content, end + 1, number + 1)) throw damaged(path, end);
  return { end, number };
}

function decodeGroup(path: string, at: number, payload: Uint8Array): Mutation[] {
  const reader = new ByteReader(payload);
  const group: Mutation[] = [];
  try {
    while (!reader.done) group.push(decodeMutation(reader));
  } catch (error) {
    throw damaged(path, at, error);
  }
  return group;
}

function readRecord(content: Uint8Array, at: number, number: number): Uint8Array | undefined {
  const view = Buffer.from(content.buffer, content.byteOffset, content.length);
  if (at + headerBytes > view.length) return undefined;
  const length = view.readUInt32LE(at);
  const end = at + headerBytes + length;
  if (end > view.length || view.readUInt32LE(at + 8) !== number) return undefined;
  return crc32(view.subarray(at + 8, end)) === view.readUInt32LE(at + 4)
    ? view.subarray(at + headerBytes, end)
    : undefined;
}

/** Searches for any later record, however many were lost before it: a torn tail has none. */
function hasRecordBehind(content: Uint8Array, from: number, number: number): boolean {
  const view = Buffer.from(content.buffer, content.byteOffset, content.length);
  for (let at = from; at + headerBytes <= view.length; at++) {
    const found = view.readUInt32LE(at + 8);
    if (found >= number && readRecord(content, at, found)) return true;
  }
  return false;
}

function damaged(path: string, at: number, cause?: unknown): StoreError {
  return new StoreError(
    'StorageDamaged',
    `${path} is damaged at byte ${at}, which contains acknowledged writes: restore the file from a backup, or move the directory away to start with an empty store`,
    { cause },
  );
}
