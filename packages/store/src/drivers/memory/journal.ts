/**
 * The memory driver's durability: a file of groups, each written and synced as one record before anyone learns of it.
 *
 *     file    "HANGAR1\n"  record  record  …
 *     record  length u32 · checksum u32 · number u32 · mutations        number: 0, 1, 2, … in each file
 *
 * A crash can only tear the record that was being written, which is the last one, and nobody was told of it: recovery
 * drops it. An unreadable record with a readable one behind it is damage, and refused.
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
  /** Where the next record goes: behind the last one that is known to be whole. */
  #end: number;
  #number: number;
  /** A failed write may have left bytes behind `#end` that must go before anything else is written. */
  #dirty = false;
  /** The file's name is not durable yet: until it is, nothing may rely on this file. */
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

  /** Opens or creates the journal in the directory and hands every durable group to `replay`, in order. */
  static async open(disk: Disk, directory: string, replay: (group: Mutation[]) => void): Promise<Journal> {
    const path = `${directory}/journal`;
    const file = await disk.open(path, { create: true });
    const size = await file.size();
    const content = await file.read(0, size);
    if (content.length < magic.length) {
      // Either new, or a first start that was cut off before its name was durable: nothing was ever acknowledged here.
      if (content.some((byte, at) => byte !== 0 && byte !== magic[at])) throw damaged(path, 0);
      await startFile(file);
      await disk.syncDirectory(directory);
      return new Journal(disk, directory, { file, end: magic.length, number: 0 });
    }
    if (!magic.equals(content.subarray(0, magic.length))) throw damaged(path, 0);
    const { end, number } = replayRecords(path, content, replay);
    if (end < size) {
      await file.truncate(end);
      await file.sync();
    }
    return new Journal(disk, directory, { file, end, number });
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

  /** Replaces the journal by one that holds only `snapshot`; a crash leaves the old or the new one. */
  async rewrite(snapshot: Iterable<Mutation>): Promise<void> {
    const next = `${this.#directory}/journal.next`;
    const file = await this.#disk.open(next, { create: true });
    await file.truncate(0);
    await startFile(file);
    const record = encodeRecord(0, [...snapshot]);
    await file.write(magic.length, record);
    await file.sync();
    await this.#disk.rename(next, `${this.#directory}/journal`);
    await this.#file.close();
    this.#file = file;
    this.#end = magic.length + record.length;
    this.#number = 1;
    this.#dirty = false;
    this.#unnamed = true;
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

async function startFile(file: DiskFile): Promise<void> {
  await file.write(0, magic);
  await file.sync();
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
    const reader = new ByteReader(payload);
    const group: Mutation[] = [];
    while (!reader.done) group.push(decodeMutation(reader));
    replay(group);
    end += headerBytes + payload.length;
    number++;
  }
  if (hasRecordBehind(content, end + 1, number + 1)) throw damaged(path, end);
  return { end, number };
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

/** Looks for any later record: a torn tail has none. */
function hasRecordBehind(content: Uint8Array, from: number, number: number): boolean {
  for (let at = from; at + headerBytes <= content.length; at++) {
    for (let later = number; later < number + 4; later++) {
      if (readRecord(content, at, later)) return true;
    }
  }
  return false;
}

function damaged(path: string, at: number): StoreError {
  return new StoreError(
    'StorageDamaged',
    `${path} is damaged at byte ${at}, with acknowledged writes behind it: restore the file from a backup, or move the directory away to begin empty`,
  );
}
