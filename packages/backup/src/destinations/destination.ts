/**
 * A place for backups. A backup is listed only after all its bytes were stored and verified; a failed upload leaves earlier backups as they
 * are. See `record.ts` for the layout.
 */

import { createHash } from 'node:crypto';
import { asError, hasCode, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { BackupError } from '../errors.ts';
import type { CallOptions, ObjectStorage, UploadOptions } from './object-storage.ts';
import {
  checkFacts,
  checkName,
  dataKey,
  dataPrefix,
  decodeRecord,
  encodeRecord,
  nameOfRecord,
  partsOfData,
  recordBytesMax,
  recordKey,
} from './record.ts';
import type { BackupRecord } from './record.ts';

export interface PutOptions extends UploadOptions {
  /** Default: `refuse`, with `AlreadyExists`. */
  readonly ifExists?: 'refuse' | 'replace';
  /**
   * `checksum` (the default) compares the size and the checksum that the storage computed, and reads all bytes again if it computed none.
   * `read` always reads all bytes again.
   */
  readonly verify?: 'checksum' | 'read';
  /** Returns facts for the record. Called after the stream finished. Up to 1,000 characters. */
  readonly facts?: (() => Promise<Readonly<Record<string, string>>>) | undefined;
}

export interface ListOptions extends CallOptions {
  /** Receives backups that are not listed, because their record or data is damaged. */
  readonly onDamaged?: ((name: string, error: Error) => void) | undefined;
}

export interface StoredBackup {
  readonly record: BackupRecord;
  /** Throws `Truncated` or `Corrupted` if the bytes are not those that were stored; complete when the stream finishes. */
  readonly content: AsyncGenerator<Uint8Array, void, void>;
}

export interface BackupDestination {
  readonly description: string;
  /** Complete backups, in the order of their names. */
  list(options?: ListOptions): AsyncGenerator<BackupRecord, void, void>;
  /** Returns undefined if there is no backup of this name. Throws `Corrupted` if its record or data is damaged. */
  stat(name: string, options?: CallOptions): Promise<BackupRecord | undefined>;
  put(name: string, content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<BackupRecord>;
  /** Throws `NotFound`. */
  get(name: string, options?: CallOptions): Promise<StoredBackup>;
  /** Does nothing if there is no backup of this name. */
  delete(name: string, options?: CallOptions): Promise<void>;
  /**
   * Removes data of uploads that were interrupted by a crash: those older than `olderThanMs`, which must be longer than any upload takes,
   * and is an hour at least. Returns the number of removed objects and uploads.
   */
  removeIncomplete(options: CallOptions & { readonly olderThanMs: number }): Promise<number>;
}

export interface DestinationOptions {
  readonly clock?: Clock;
  readonly random?: Random;
}

const incompleteAgeMinMs = 3_600_000;
/** Requests for records that are in flight during a list. */
const listAtOnce = 8;

/** Returns a destination on a storage. */
export function openDestination(storage: ObjectStorage, options: DestinationOptions = {}): BackupDestination {
  return new Destination(storage, options);
}

class Destination implements BackupDestination {
  readonly #storage: ObjectStorage;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(storage: ObjectStorage, { clock = systemClock, random = systemRandom }: DestinationOptions) {
    this.#storage = storage;
    this.#clock = clock;
    this.#random = random;
  }

  get description(): string {
    return this.#storage.description;
  }

  async *list({ signal, onDamaged }: ListOptions = {}): AsyncGenerator<BackupRecord, void, void> {
    let names: string[] = [];
    for await (const { key } of this.#storage.list('', { signal })) {
      const name = nameOfRecord(key);
      if (name === undefined) continue;
      names.push(name);
      if (names.length < listAtOnce) continue;
      yield* await this.#complete(names, { signal, onDamaged });
      names = [];
    }
    yield* await this.#complete(names, { signal, onDamaged });
  }

  /** Damaged backups are left out. Other errors are thrown: a list that misses good backups is dangerous for retention. */
  async #complete(names: readonly string[], { signal, onDamaged }: ListOptions): Promise<BackupRecord[]> {
    const found = await Promise.all(
      names.map(async (name) => {
        try {
          return await this.stat(name, { signal });
        } catch (error) {
          if (!isDamage(error)) throw error;
          onDamaged?.(name, asError(error));
          return undefined;
        }
      }),
    );
    return found.filter((one) => one !== undefined);
  }

  async stat(name: string, { signal }: CallOptions = {}): Promise<BackupRecord | undefined> {
    checkName(name);
    const record = await this.#record(name, signal);
    if (!record) return undefined;
    const data = await this.#storage.head(dataKey(name, record.id), { signal });
    if (data?.sizeBytes === record.sizeBytes) return record;
    const problem = data ? `have ${data.sizeBytes} bytes instead of ${record.sizeBytes}` : 'do not exist';
    throw new BackupError('Corrupted', `backup ${name} in ${this.description} is damaged: its data ${problem}`);
  }

  async #record(name: string, signal: AbortSignal | undefined): Promise<BackupRecord | undefined> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const piece of this.#storage.read(recordKey(name), { signal })) {
        pieces.push(Buffer.from(piece));
        bytes += piece.length;
        if (bytes > recordBytesMax) throw new BackupError('Corrupted', `the record of backup ${name} is too long`);
      }
    } catch (error) {
      if (hasCode(error, 'NotFound')) return undefined;
      throw error;
    }
    return decodeRecord(name, Buffer.concat(pieces));
  }

  async put(
    name: string,
    content: AsyncIterable<Uint8Array>,
    { ifExists = 'refuse', verify = 'checksum', signal, onProgress, facts }: PutOptions = {},
  ): Promise<BackupRecord> {
    checkName(name);
    const isNew = ifExists === 'refuse';
    const previous = await this.#previous(name, isNew, signal);
    const id = Buffer.from(this.#random.bytes(16)).toString('hex');
    const key = dataKey(name, id);
    const measured = new MeasuredStream(content);
    const { isVerified } = await this.#storage.upload(key, measured.read(), { signal, onProgress });
    const stored = { name, ...measured.result(), storedAt: new Date(this.#clock.now()).toISOString(), id };
    let record: BackupRecord = stored;
    try {
      if (facts) record = { ...stored, facts: await facts() };
      checkFacts(record.facts ?? {});
      await this.#verify(record, isVerified && verify === 'checksum', signal);
    } catch (error) {
      await this.#discard(record);
      throw error;
    }
    await this.#publish(record, isNew, signal);
    // The new backup is complete. If this fails, the data of the old one stays until `removeIncomplete`.
    if (previous) await this.#storage.remove(dataKey(name, previous.id), { signal }).catch(() => {});
    return record;
  }

  async #previous(name: string, isNew: boolean, signal: AbortSignal | undefined): Promise<BackupRecord | undefined> {
    try {
      const found = await this.#record(name, signal);
      if (found && isNew) throw this.#alreadyExists(name);
      return found;
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (isNew) throw this.#alreadyExists(name, error);
      return undefined;
    }
  }

  #alreadyExists(name: string, cause?: unknown): BackupError {
    return new BackupError('AlreadyExists', `backup ${name} already exists in ${this.description}`, { cause });
  }

  async #verify(record: BackupRecord, isVerified: boolean, signal: AbortSignal | undefined): Promise<void> {
    const key = dataKey(record.name, record.id);
    const stored = await this.#storage.head(key, { signal });
    if (stored?.sizeBytes !== record.sizeBytes) {
      const found = stored ? `${stored.sizeBytes} bytes` : 'no bytes';
      throw new BackupError('Truncated', `${this.description} stored ${found} of ${record.sizeBytes} bytes`);
    }
    if (isVerified) return;
    for await (const _ of verified(this.#storage.read(key, { signal }), record, this.description));
  }

  async #publish(record: BackupRecord, isNew: boolean, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.#storage.write(recordKey(record.name), encodeRecord(record), { isNew, signal });
    } catch (error) {
      // The response may be lost although the record was written; or the record was written by an attempt before the last one.
      const found = await this.#record(record.name, signal).catch(() => undefined);
      if (found?.id === record.id) return;
      // A write without a response can still be executed: then the data must exist. `removeIncomplete` removes it otherwise.
      if (!hasCode(error, 'Unavailable') && !hasCode(error, 'Aborted')) await this.#discard(record);
      throw error;
    }
  }

  /** Removes the data of a failed upload, if possible. Without a record it is not a backup. */
  async #discard(record: BackupRecord): Promise<void> {
    await this.#storage.remove(dataKey(record.name, record.id)).catch(() => {});
  }

  async get(name: string, { signal }: CallOptions = {}): Promise<StoredBackup> {
    const record = await this.stat(name, { signal });
    if (!record) throw new BackupError('NotFound', `there is no backup ${name} in ${this.description}`);
    const stored = this.#storage.read(dataKey(name, record.id), { signal });
    return { record, content: verified(stored, record, this.description) };
  }

  async delete(name: string, { signal }: CallOptions = {}): Promise<void> {
    checkName(name);
    const ids: string[] = [];
    try {
      const record = await this.#record(name, signal);
      if (record) ids.push(record.id);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    await this.#storage.remove(recordKey(name), { signal });
    for (const id of ids) await this.#storage.remove(dataKey(name, id), { signal });
  }

  async removeIncomplete({ olderThanMs, signal }: CallOptions & { readonly olderThanMs: number }): Promise<number> {
    const beforeMs = this.#clock.now() - Math.max(olderThanMs, incompleteAgeMinMs);
    let removed = await this.#storage.removeIncomplete(dataPrefix, beforeMs, { signal });
    for await (const { key, modifiedMs } of this.#storage.list(dataPrefix, { signal })) {
      const parts = partsOfData(key);
      if (!parts || modifiedMs >= beforeMs || (await this.#mayBelong(parts, signal))) continue;
      await this.#storage.remove(key, { signal });
      removed++;
    }
    return removed;
  }

  /** A damaged record may refer to any data of its name. */
  async #mayBelong({ name, id }: { name: string; id: string }, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      return (await this.#record(name, signal))?.id === id;
    } catch (error) {
      if (isDamage(error)) return true;
      throw error;
    }
  }
}

const isDamage = (error: unknown): boolean => hasCode(error, 'Corrupted') || hasCode(error, 'UnsupportedVersion');

/** Passes a stream on and measures it. */
class MeasuredStream {
  readonly #content: AsyncIterable<Uint8Array>;
  readonly #digest = createHash('sha256');
  #sizeBytes = 0;

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#content = content;
  }

  async *read(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of this.#content) {
      this.#digest.update(chunk);
      this.#sizeBytes += chunk.length;
      yield chunk;
    }
  }

  result(): { sizeBytes: number; sha256: string } {
    return { sizeBytes: this.#sizeBytes, sha256: this.#digest.digest('hex') };
  }
}

/** Passes a stream on and compares it with its record when it finishes. */
async function* verified(
  content: AsyncIterable<Uint8Array>,
  { name, sizeBytes, sha256 }: BackupRecord,
  place: string,
): AsyncGenerator<Uint8Array, void, void> {
  const measured = new MeasuredStream(content);
  yield* measured.read();
  const found = measured.result();
  if (found.sizeBytes < sizeBytes) {
    throw new BackupError('Truncated', `${place} returned ${found.sizeBytes} of ${sizeBytes} bytes of backup ${name}`);
  }
  if (found.sha256 !== sha256) {
    throw new BackupError('Corrupted', `the bytes of backup ${name} in ${place} are not those that were stored`);
  }
}
