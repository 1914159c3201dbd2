/**
 * Computes the states that a disk may have after a power cut, from the calls of a process: a file has all synced data, and any part of
 * later writes, in any order, sector by sector; a directory has all synced changes, and its later changes up to some point. Harsher than
 * most file systems, as weak as POSIX allows.
 */

import type { Random } from '@hangar/core';

export type DiskEvent =
  | { readonly type: 'create' | 'unlink' | 'sync'; readonly path: string }
  | { readonly type: 'write'; readonly path: string; readonly offset: number; readonly data: Buffer }
  | { readonly type: 'truncate'; readonly path: string; readonly length: number }
  | { readonly type: 'rename'; readonly path: string; readonly to: string }
  /** An acknowledgement was sent: no change of the disk, but a promise from here on. */
  | { readonly type: 'told'; readonly text: string };

type FileChange = { offset: number; data: Buffer } | { length: number };

interface DiskFile {
  synced: Buffer;
  pending: FileChange[];
}

type Entries = Map<string, DiskFile>;

const sectorBytes = 512;

export class DiskHistory {
  readonly #directory: string;
  /** As the process sees it. */
  #entries: Entries = new Map();
  #synced: Entries = new Map();
  /** The directory after each change since its last sync. */
  #pending: Entries[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  play(event: DiskEvent): void {
    switch (event.type) {
      case 'create':
        if (!this.#entries.has(event.path)) {
          this.#change((entries) => entries.set(event.path, { synced: Buffer.alloc(0), pending: [] }));
        }
        break;
      case 'unlink':
        this.#change((entries) => entries.delete(event.path));
        break;
      case 'rename':
        this.#change((entries) => {
          entries.set(event.to, entries.get(event.path)!);
          entries.delete(event.path);
        });
        break;
      case 'write':
        this.#entries.get(event.path)?.pending.push({ offset: event.offset, data: event.data });
        break;
      case 'truncate':
        this.#entries.get(event.path)?.pending.push({ length: event.length });
        break;
      case 'sync':
        this.#sync(event.path);
        break;
      default:
    }
  }

  /** Returns the files that one power cut leaves, of the many possible states. */
  cut(random: Random): Map<string, Buffer> {
    const reached = random.below(this.#pending.length + 1);
    const entries = reached === 0 ? this.#synced : this.#pending[reached - 1]!;
    // Sometimes everything or nothing is written: extremes reveal bugs.
    const mood = random.below(4);
    return new Map([...entries].map(([path, file]) => [path, contentAfterCut(file, random, mood)]));
  }

  #sync(path: string): void {
    if (path === this.#directory) {
      this.#synced = new Map(this.#entries);
      this.#pending = [];
      return;
    }
    const file = this.#entries.get(path);
    if (!file) return;
    file.synced = file.pending.reduce(changed, file.synced);
    file.pending = [];
  }

  #change(change: (entries: Entries) => void): void {
    this.#entries = new Map(this.#entries);
    change(this.#entries);
    this.#pending.push(new Map(this.#entries));
  }
}

function contentAfterCut({ synced, pending }: DiskFile, random: Random, mood: number): Buffer {
  if (mood === 0) return synced;
  if (mood === 1) return pending.reduce(changed, synced);
  return pending.reduce<Buffer>((content, change) => {
    if (random.below(2) === 0) return content;
    if ('length' in change || random.below(2) === 0) return changed(content, change);
    // Torn: some of its sectors.
    let torn = content;
    for (let at = 0; at < change.data.length; at += sectorBytes) {
      if (random.below(2) === 0) continue;
      torn = changed(torn, { offset: change.offset + at, data: change.data.subarray(at, at + sectorBytes) });
    }
    return torn;
  }, synced);
}

function changed(content: Buffer, change: FileChange): Buffer {
  const length = 'length' in change ? change.length : Math.max(content.length, change.offset + change.data.length);
  const result = Buffer.alloc(length);
  content.copy(result);
  if ('data' in change) change.data.copy(result, change.offset);
  return result;
}
