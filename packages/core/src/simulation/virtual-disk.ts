/**
 * A disk in memory that behaves like the worst legal one. Until `sync`, a write is only in the "page cache": a crash
 * keeps, drops or tears it, sector by sector, as the seed decides. Names are durable only after `syncDirectory`.
 *
 *     write A, sync, write B, write C, crash   →   A, and any of: nothing, B, C, B and C, parts of either
 */

import type { Clock } from '../clock.ts';
import type { Disk, DiskFile } from '../disk.ts';
import { dirname } from 'node:path/posix';
import { chance } from '../random.ts';
import type { Random } from '../random.ts';

const sectorBytes = 512;

interface Pending {
  offset: number;
  bytes: Uint8Array;
  /** Set for a truncation instead of a write. */
  length?: number;
}

interface Inode {
  /** Content that certainly survives a power loss. */
  durable: Image;
  /** Content that a read returns. */
  content: Image;
  /** Changes between the two, in order. */
  pending: Pending[];
}

export interface VirtualDiskOptions {
  clock: Clock;
  random: Random;
  /** Every call takes up to this long, so that calls of several tasks interleave. */
  latencyMaxMs?: number;
}

export class VirtualDisk implements Disk {
  readonly #options: Required<VirtualDiskOptions>;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #generation = 0;
  #capacityBytes = Infinity;
  #failures = new Map<number, string>();
  /** Number of calls so far, for loops that fail the nth call. */
  calls = 0;
  readOnly = false;

  constructor(options: VirtualDiskOptions) {
    this.#options = { latencyMaxMs: 1, ...options };
  }

  /** Writes that would grow the disk beyond this fail with ENOSPC. */
  set capacityBytes(bytes: number) {
    this.#capacityBytes = bytes;
  }

  /** Makes the call number `n` (counted by `calls`, from 1) fail with this system code. */
  failCall(n: number, code: string): void {
    this.#failures.set(n, code);
  }

  /** Simulates a power loss: open files fail, and unsynced writes are kept, dropped or torn at random. */
  crash(): void {
    this.#generation++;
    this.#names = new Map(this.#durableNames);
    for (const inode of new Set(this.#names.values())) {
      for (const pending of inode.pending) this.#survive(inode.durable, pending);
      inode.content = new Image(inode.durable.bytes());
      inode.pending = [];
    }
  }

  /** Returns the current bytes of a file, for tests that inspect or damage it. */
  peek(path: string): Uint8Array | undefined {
    return this.#names.get(path)?.content.bytes();
  }

  /** Replaces a file's bytes while it may be open: bit rot, truncation. */
  poke(path: string, bytes: Uint8Array): void {
    const inode: Inode = { durable: new Image(bytes), content: new Image(bytes), pending: [] };
    this.#names.set(path, inode);
    this.#durableNames.set(path, inode);
  }

  async open(path: string, options: { create?: boolean } = {}): Promise<DiskFile> {
    await this.#call('open', path);
    let inode = this.#names.get(path);
    if (!inode) {
      if (!options.create) throw diskError('ENOENT', 'open', path);
      this.#refuseWhenReadOnly('open', path);
      inode = { durable: new Image(), content: new Image(), pending: [] };
      this.#names.set(path, inode);
    }
    return this.#file(path, inode);
  }

  async list(directory: string): Promise<string[]> {
    await this.#call('list', directory);
    return [...this.#names.keys()]
      .filter((path) => dirname(path) === directory)
      .map((p) => p.slice(directory.length + 1));
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#call('rename', from);
    this.#refuseWhenReadOnly('rename', from);
    const inode = this.#names.get(from);
    if (!inode) throw diskError('ENOENT', 'rename', from);
    this.#names.delete(from);
    this.#names.set(to, inode);
  }

  async remove(path: string): Promise<void> {
    await this.#call('remove', path);
    this.#refuseWhenReadOnly('remove', path);
    this.#names.delete(path);
  }

  async syncDirectory(directory: string): Promise<void> {
    await this.#call('syncDirectory', directory);
    for (const path of this.#durableNames.keys()) {
      if (dirname(path) === directory && !this.#names.has(path)) this.#durableNames.delete(path);
    }
    for (const [path, inode] of this.#names) {
      if (dirname(path) === directory) this.#durableNames.set(path, inode);
    }
  }

  #file(path: string, inode: Inode): DiskFile {
    const generation = this.#generation;
    const call = async (name: string) => {
      if (generation !== this.#generation) throw diskError('EIO', name, path);
      await this.#call(name, path);
      if (generation !== this.#generation) throw diskError('EIO', name, path);
    };
    return {
      read: async (offset, length) => {
        await call('read');
        return inode.content.bytes(offset, offset + length);
      },
      write: async (offset, bytes) => {
        const copy = Uint8Array.from(bytes);
        await call('write');
        this.#refuseWhenReadOnly('write', path);
        const growth = Math.max(0, offset + copy.length - inode.content.length);
        if (this.#usedBytes() + growth > this.#capacityBytes) throw diskError('ENOSPC', 'write', path);
        inode.content.write(offset, copy);
        inode.pending.push({ offset, bytes: copy });
      },
      truncate: async (length) => {
        await call('truncate');
        this.#refuseWhenReadOnly('truncate', path);
        inode.content.truncate(length);
        inode.pending.push({ offset: 0, bytes: new Uint8Array(), length });
      },
      size: async () => {
        await call('size');
        return inode.content.length;
      },
      sync: async () => {
        const covered = new Set(inode.pending);
        await call('sync');
        const synced = inode.pending.filter((pending) => covered.has(pending));
        inode.pending = inode.pending.filter((pending) => !covered.has(pending));
        for (const { offset, bytes, length } of synced) {
          if (length === undefined) inode.durable.write(offset, bytes);
          else inode.durable.truncate(length);
        }
      },
      close: async () => {},
    };
  }

  async #call(name: string, path: string): Promise<void> {
    const generation = this.#generation;
    const failure = this.#failures.get(++this.calls);
    const { clock, random, latencyMaxMs } = this.#options;
    if (latencyMaxMs > 0) await new Promise<void>((done) => clock.after(random.fraction() * latencyMaxMs, done));
    // A call that the power loss interrupted must not take effect after it.
    if (generation !== this.#generation) throw diskError('EIO', name, path);
    if (failure) throw diskError(failure, name, path);
  }

  #refuseWhenReadOnly(call: string, path: string): void {
    if (this.readOnly) throw diskError('EROFS', call, path);
  }

  #usedBytes(): number {
    let used = 0;
    for (const inode of this.#names.values()) used += inode.content.length;
    return used;
  }

  #survive(image: Image, pending: Pending): void {
    const { random } = this.#options;
    if (pending.length !== undefined) {
      if (chance(random, 0.5)) image.truncate(pending.length);
      return;
    }
    const fate = random.below(3);
    if (fate === 0) return;
    for (let at = 0; at < pending.bytes.length; at += sectorBytes) {
      const torn = fate === 1 && chance(random, 0.5);
      if (!torn) image.write(pending.offset + at, pending.bytes.subarray(at, at + sectorBytes));
    }
  }
}

/** Bytes that grow in place, so that appending stays cheap. */
class Image {
  #buffer: Uint8Array;
  length: number;

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.#buffer = Uint8Array.from(bytes); // a Buffer's own slice would share its memory
    this.length = bytes.length;
  }

  bytes(start = 0, end = this.length): Uint8Array {
    return this.#buffer.slice(start, Math.min(end, this.length));
  }

  write(offset: number, bytes: Uint8Array): void {
    const end = offset + bytes.length;
    if (end > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(end, this.#buffer.length * 2));
      grown.set(this.#buffer.subarray(0, this.length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, offset);
    this.length = Math.max(this.length, end);
  }

  truncate(length: number): void {
    if (length < this.length) this.#buffer.fill(0, length, this.length);
    else this.write(length, new Uint8Array());
    this.length = length;
  }
}

function diskError(code: string, call: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path });
}
