/**
 * Files as a dependency: the few calls that durable code needs, so that a simulation can lose, tear and refuse writes. The contract is that
 * of POSIX: a write is durable after `sync` of its file, a new or renamed name after `syncDirectory`. Errors carry the system's code
 * (`ENOSPC`, `EIO`, `EROFS`, `ENOENT`).
 */

import { open, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface DiskFile {
  /** Returns at most `length` bytes from `offset`; fewer at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
  write(offset: number, bytes: Uint8Array): Promise<void>;
  truncate(length: number): Promise<void>;
  size(): Promise<number>;
  /** Resolves when everything written before the call survives a power loss. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface Disk {
  /** Opens for reading and writing; creates the file and its directory if `create` is set. */
  open(path: string, options?: { create?: boolean }): Promise<DiskFile>;
  list(directory: string): Promise<string[]>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  syncDirectory(directory: string): Promise<void>;
}

export const systemDisk: Disk = {
  async open(path, options = {}) {
    if (options.create) await mkdir(dirname(path), { recursive: true });
    const handle = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
      if (options.create && error.code === 'ENOENT') return open(path, 'wx+', 0o600);
      throw error;
    });
    return {
      async read(offset, length) {
        const { bytesRead, buffer } = await handle.read(new Uint8Array(length), 0, length, offset);
        return buffer.subarray(0, bytesRead);
      },
      async write(offset, bytes) {
        for (let done = 0; done < bytes.length;) {
          done += (await handle.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
        }
      },
      truncate: (length) => handle.truncate(length),
      size: async () => (await handle.stat()).size,
      sync: () => handle.datasync(),
      close: () => handle.close(),
    };
  },
  list: (directory) => readdir(directory),
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { force: true }),
  async syncDirectory(directory) {
    const handle = await open(directory, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};
