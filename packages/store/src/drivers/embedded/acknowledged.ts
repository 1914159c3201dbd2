/**
 * The high-water mark: the last acknowledged revision, in a separate file beside the database. It is written after each durable group,
 * without a separate sync, so it may be behind the database but never ahead of it. A database that is behind the mark has lost acknowledged
 * writes, even if SQLite accepts it: a truncated journal file, for example, looks to SQLite like a crash in mid-write.
 *
 * The mark is evidence, not data: a failure to write it loses nothing, so it fails no request.
 *
 *     revision f64 · store id 16 bytes · checksum u32
 */

import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Revision } from '../../contract.ts';

const length = 28;

export class AcknowledgedMark {
  readonly #descriptor: number;
  readonly #record = Buffer.alloc(length);

  constructor(path: string, storeId: string) {
    this.#descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#record.write(storeId, 8, 'hex');
  }

  write(revision: Revision): void {
    this.#record.writeDoubleLE(revision, 0);
    this.#record.writeUInt32LE(crc32(this.#record.subarray(0, 24)), 24);
    quietly(() => writeSync(this.#descriptor, this.#record, 0, length, 0));
  }

  close(): void {
    quietly(() => fsyncSync(this.#descriptor));
    quietly(() => closeSync(this.#descriptor));
  }
}

/** Ignores errors: the file then holds an older mark, or a partial one, which its checksum reveals. */
function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // The next group retries.
  }
}

/** Returns undefined if there is no mark, or if a power loss left it incomplete: then it proves nothing. */
export function readMark(path: string): { revision: Revision; storeId: string } | undefined {
  let record: Buffer;
  try {
    record = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if (record.length !== length || crc32(record.subarray(0, 24)) !== record.readUInt32LE(24)) return undefined;
  return { revision: record.readDoubleLE(0) as Revision, storeId: record.toString('hex', 8, 24) };
}
