/**
 * Objects as files of a folder. A file gets its name only after its content was synced, so that a power loss leaves either the whole object or
 * a file with a temporary name. The folder must exist: a backup must not land below the mount point of a volume that is not mounted.
 */

import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { abortError, asError, hasCode, systemDisk } from '@hangar/core';
import { BackupError } from '../../errors.ts';
import type { CallOptions, ObjectStorage, StoredObject, UploadOptions } from '../object-storage.ts';

const pieceBytes = 256 * 1024;
const temporarySuffix = '.partial';

/** Returns the storage of a folder. Nothing is read or written before the first call. */
export function folderStorage(folder: string): ObjectStorage {
  return new FolderStorage(folder);
}

class FolderStorage implements ObjectStorage {
  readonly description: string;

  constructor(folder: string) {
    this.description = folder;
  }

  async *list(prefix: string, { signal }: CallOptions = {}): AsyncGenerator<StoredObject, void, void> {
    for (const name of (await this.#names(prefix)).filter((one) => !one.startsWith('.'))) {
      throwIfAborted(signal);
      const key = `${prefix.slice(0, prefix.lastIndexOf('/') + 1)}${name}`;
      if (!key.startsWith(prefix)) continue;
      const found = await this.#found(key);
      if (found) yield { key, sizeBytes: found.sizeBytes, modifiedMs: found.modifiedMs };
    }
  }

  /** Names of the files in the folder of the prefix, sorted. */
  async #names(prefix: string): Promise<string[]> {
    await this.#insistOnFolder();
    try {
      return (await readdir(join(this.description, dirname(`${prefix}x`)))).sort();
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw this.#failure('list', error);
    }
  }

  async #found(key: string): Promise<{ sizeBytes: number; modifiedMs: number } | undefined> {
    try {
      const found = await stat(this.#path(key));
      return found.isFile() ? { sizeBytes: found.size, modifiedMs: found.mtimeMs } : undefined;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw this.#failure('read', error);
    }
  }

  async head(key: string, { signal }: CallOptions = {}): Promise<{ sizeBytes: number } | undefined> {
    throwIfAborted(signal);
    const found = await this.#found(key);
    if (!found) await this.#insistOnFolder();
    return found && { sizeBytes: found.sizeBytes };
  }

  async *read(key: string, { signal }: CallOptions = {}): AsyncGenerator<Uint8Array, void, void> {
    await using file = await this.#open(key);
    const piece = Buffer.allocUnsafe(pieceBytes);
    for (;;) {
      throwIfAborted(signal);
      const { bytesRead } = await file.read(piece, 0, pieceBytes).catch((error: unknown) => {
        throw this.#failure('read', error);
      });
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
    }
  }

  async #open(key: string): Promise<FileHandle> {
    try {
      return await open(this.#path(key), 'r');
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw this.#failure('read', error);
      await this.#insistOnFolder();
      throw new BackupError('NotFound', `${key} does not exist in ${this.description}`, { cause: error });
    }
  }

  async write(key: string, content: Uint8Array, { isNew, signal }: CallOptions & { isNew: boolean }): Promise<void> {
    const once = async function* (): AsyncGenerator<Uint8Array, void, void> {
      yield content;
    };
    await this.#replace(key, once(), { signal, isNew });
  }

  async upload(
    key: string,
    content: AsyncIterable<Uint8Array>,
    options: UploadOptions = {},
  ): Promise<{ isVerified: boolean }> {
    await this.#replace(key, content, { ...options, isNew: true });
    // The kernel reports failed writes to `sync`.
    return { isVerified: true };
  }

  async #replace(
    key: string,
    content: AsyncIterable<Uint8Array>,
    { isNew, signal, onProgress }: UploadOptions & { isNew: boolean },
  ): Promise<void> {
    await this.#insistOnFolder();
    const path = this.#path(key);
    const partial = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}${temporarySuffix}`);
    try {
      await mkdir(dirname(path), { mode: 0o700 }).catch((error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw this.#failure('write', error);
      });
      await this.#fill(partial, content, { signal, onProgress });
      await this.#name(partial, path, isNew);
    } catch (error) {
      await rm(partial, { force: true }).catch(() => {});
      throw error;
    }
  }

  async #fill(path: string, content: AsyncIterable<Uint8Array>, { signal, onProgress }: UploadOptions): Promise<void> {
    const failed = (error: unknown): never => {
      throw this.#failure('write', error);
    };
    await using file = await open(path, 'wx', 0o600).catch(failed);
    let bytes = 0;
    for await (const chunk of content) {
      throwIfAborted(signal);
      for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at).catch(failed)).bytesWritten;
      bytes += chunk.length;
      onProgress?.(bytes);
    }
    await file.sync().catch(failed);
  }

  async #name(partial: string, path: string, isNew: boolean): Promise<void> {
    try {
      if (isNew) {
        // Unlike a rename, a link does not replace a file.
        await link(partial, path);
        await rm(partial);
      } else await rename(partial, path);
      await systemDisk.syncDirectory(dirname(path));
    } catch (error) {
      if (hasCode(error, 'EEXIST')) throw new BackupError('AlreadyExists', `${path} already exists`, { cause: error });
      throw this.#failure('write', error);
    }
  }

  async remove(key: string): Promise<void> {
    try {
      await rm(this.#path(key), { force: true });
    } catch (error) {
      throw this.#failure('remove', error);
    }
  }

  async removeIncomplete(prefix: string, beforeMs: number): Promise<number> {
    let removed = 0;
    for (const name of (await this.#names(prefix)).filter((one) => one.endsWith(temporarySuffix))) {
      const found = await this.#found(`${prefix}${name}`);
      if (!found || found.modifiedMs >= beforeMs) continue;
      await this.remove(`${prefix}${name}`);
      removed++;
    }
    return removed;
  }

  #path(key: string): string {
    return join(this.description, key);
  }

  async #insistOnFolder(): Promise<void> {
    const found = await stat(this.description).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw this.#failure('read', error);
      return undefined;
    });
    if (found?.isDirectory()) return;
    const problem = found ? 'is not a folder' : 'does not exist';
    throw new BackupError('BucketNotFound', `the folder ${JSON.stringify(this.description)} ${problem}`);
  }

  #failure(action: string, error: unknown): BackupError {
    if (error instanceof BackupError) return error;
    const text = `cannot ${action} in ${JSON.stringify(this.description)}: ${asError(error).message}`;
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'ENOSPC' || code === 'EDQUOT') return new BackupError('StorageFull', text, { cause: error });
    if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return new BackupError('AccessDenied', text, { cause: error });
    return new BackupError('StorageFailed', text, { cause: error });
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}
