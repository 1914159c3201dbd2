/**
 * Writes a bbolt file from buckets whose entries come in the order of their keys. Pages are appended when they are full, branch pages behind
 * the pages below them, so memory is one page for each level of the tree, and one buffer of the file.
 *
 * Worked example: a bucket with 5 entries, two of which fit into a page, and branch pages for two children.
 *
 *     page 3 leaf a b · page 4 leaf c d · page 5 branch a→3 c→4 · page 6 leaf e · page 7 branch e→6 · page 8 branch a→5 e→7 (root)
 */

import type { FileHandle } from 'node:fs/promises';
import { pageHeaderBytes } from './bolt-page.ts';
import type { BranchElement, LeafElement } from './bolt-page.ts';
import {
  branchBytes,
  branchPage,
  bucketValue,
  freeListPage,
  inlineBucket,
  leafBytes,
  leafPage,
  metaPage,
} from './bolt-page-writer.ts';
import type { PagePlace } from './bolt-page-writer.ts';

export type BoltEntry = Pick<LeafElement, 'key' | 'value'>;

export interface BoltWriterOptions {
  readonly pageBytes?: number;
  readonly bufferBytes?: number;
}

const freeList = 2;
const firstPage = 3;

export class BoltFileWriter {
  readonly #file: Pick<FileHandle, 'writev'>;
  readonly #pageBytes: number;
  readonly #bufferBytes: number;
  #next = firstPage;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writtenBytes: number;
  readonly #buckets: LeafElement[] = [];

  constructor(file: Pick<FileHandle, 'writev'>, options: BoltWriterOptions = {}) {
    this.#file = file;
    this.#pageBytes = options.pageBytes ?? 4_096;
    this.#bufferBytes = options.bufferBytes ?? 2 ** 20;
    this.#writtenBytes = firstPage * this.#pageBytes;
  }

  /** Entries are in the order of their keys. Buckets can be added in any order, one at a time. */
  async addBucket(name: string, entries: AsyncIterable<BoltEntry> | Iterable<BoltEntry>): Promise<void> {
    let isEmpty = true;
    const tree = this.#newTree();
    for await (const entry of entries) {
      isEmpty = false;
      tree.add(entry);
      if (this.#waitingBytes >= this.#bufferBytes) await this.#write();
    }
    const value = isEmpty ? inlineBucket([]) : bucketValue(tree.finish());
    this.#buckets.push({ key: Buffer.from(name), value, isBucket: true });
  }

  /** Returns the size of the file. */
  async finish(): Promise<number> {
    const tree = this.#newTree();
    for (const bucket of this.#buckets.sort((a, b) => a.key.compare(b.key))) tree.add(bucket);
    const root = tree.finish();
    await this.#write();
    const pageBytes = this.#pageBytes;
    const pages = this.#next;
    // bbolt writes transaction n to meta page n modulo 2.
    const metas = [0, 1].map((id) => metaPage({ id, pageBytes }, { root, freeList, pages, txid: BigInt(2 - id) }));
    await writeAll(this.#file, [...metas, freeListPage({ id: freeList, pageBytes })], 0);
    return pages * pageBytes;
  }

  #newTree(): Tree {
    return new Tree(this.#pageBytes, (encode) => {
      const place = { id: this.#next, pageBytes: this.#pageBytes };
      const page = encode(place);
      this.#waiting.push(page);
      this.#waitingBytes += page.length;
      this.#next += page.length / this.#pageBytes;
      return place.id;
    });
  }

  async #write(): Promise<void> {
    const [pages, position] = [this.#waiting, this.#writtenBytes];
    this.#writtenBytes += this.#waitingBytes;
    [this.#waiting, this.#waitingBytes] = [[], 0];
    await writeAll(this.#file, pages, position);
  }
}

/** Appends a page. Returns its number. */
type Append = (encode: (place: PagePlace) => Buffer) => number;

/** A B+tree, from its first entry to its last. */
class Tree {
  readonly #pageBytes: number;
  readonly #append: Append;
  #leaf: LeafElement[] = [];
  #leafBytes = pageHeaderBytes;
  /** Incomplete branch pages, from the lowest level. */
  readonly #levels: { elements: BranchElement[]; bytes: number }[] = [];

  constructor(pageBytes: number, append: Append) {
    this.#pageBytes = pageBytes;
    this.#append = append;
  }

  add(entry: BoltEntry & Partial<LeafElement>): void {
    const bytes = leafBytes(entry);
    if (this.#leaf.length > 0 && this.#leafBytes + bytes > this.#pageBytes) this.#endLeaf();
    this.#leaf.push({ isBucket: false, ...entry });
    this.#leafBytes += bytes;
  }

  /** Returns the number of the root page. Requires at least one entry. */
  finish(): number {
    this.#endLeaf();
    for (let level = 0; ; level++) {
      const { elements } = this.#levels[level]!;
      const isRoot = level === this.#levels.length - 1 && elements.length === 1;
      if (isRoot) return elements[0]!.page;
      this.#endBranch(level);
    }
  }

  #endLeaf(): void {
    const elements = this.#leaf;
    const page = this.#append((place) => leafPage(place, elements));
    [this.#leaf, this.#leafBytes] = [[], pageHeaderBytes];
    this.#addChild(0, { key: elements[0]!.key, page });
  }

  #addChild(level: number, child: BranchElement): void {
    const bytes = branchBytes(child);
    const known = this.#levels[level];
    if (known && known.elements.length > 1 && known.bytes + bytes > this.#pageBytes) this.#endBranch(level);
    const target = (this.#levels[level] ??= { elements: [], bytes: pageHeaderBytes });
    target.elements.push(child);
    target.bytes += bytes;
  }

  #endBranch(level: number): void {
    const { elements } = this.#levels[level]!;
    this.#levels[level] = { elements: [], bytes: pageHeaderBytes };
    const page = this.#append((place) => branchPage(place, elements));
    this.#addChild(level + 1, { key: elements[0]!.key, page });
  }
}

/** Writes all bytes, also when the system accepts only a part of them. */
export async function writeAll(
  file: Pick<FileHandle, 'writev'>,
  buffers: readonly Buffer[],
  position: number,
): Promise<void> {
  let rest = buffers;
  for (let at = position; rest.length > 0;) {
    // The system accepts at most 1024 buffers.
    const { bytesWritten } = await file.writev(rest.slice(0, 512), at);
    at += bytesWritten;
    rest = behind(rest, bytesWritten);
  }
}

function behind(buffers: readonly Buffer[], bytes: number): readonly Buffer[] {
  let [index, left] = [0, bytes];
  while (index < buffers.length && buffers[index]!.length <= left) left -= buffers[index++]!.length;
  return left === 0 ? buffers.slice(index) : [buffers[index]!.subarray(left), ...buffers.slice(index + 1)];
}
