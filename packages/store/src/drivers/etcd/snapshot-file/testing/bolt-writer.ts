/** Writes small bbolt files for tests: buckets with sorted entries, in pages with few entries, so that trees have several levels. */

import { fnv1a } from '../bolt-page.ts';

export interface WriterOptions {
  readonly pageBytes?: number;
  /** Entries of a page. More: a branch page above. */
  readonly fanOut?: number;
  /** Buckets of at most this many entries are inline. */
  readonly inlineMax?: number;
}

export type Entries = readonly (readonly [key: Buffer, value: Buffer])[];

interface Element {
  readonly flags: number;
  readonly key: Buffer;
  readonly value: Buffer;
}

const headerBytes = 16;
const elementBytes = 16;

/** Returns a database without the SHA-256 behind it. */
export function boltDatabase(buckets: Readonly<Record<string, Entries>>, options: WriterOptions = {}): Buffer {
  const { pageBytes = 4_096, fanOut = 4, inlineMax = 0 } = options;
  const pages: Buffer[] = [];
  let next = 3;
  /** Returns the number of the page. */
  const put = (flags: number, count: number, body: Buffer): number => {
    const needed = Math.ceil((headerBytes + body.length) / pageBytes);
    const page = Buffer.alloc(needed * pageBytes);
    const id = next;
    header(page, { id, flags, count, overflow: needed - 1 });
    body.copy(page, headerBytes);
    pages.push(page);
    next += needed;
    return id;
  };
  const tree = (elements: readonly Element[]): number => {
    const leaves = chunks(elements, fanOut).map((some) => ({
      key: some[0]?.key ?? Buffer.alloc(0),
      page: put(2, some.length, leafBody(some)),
    }));
    let level = leaves;
    while (level.length > 1) {
      level = chunks(level, fanOut).map((some) => ({ key: some[0]!.key, page: put(1, some.length, branchBody(some)) }));
    }
    return level[0]!.page;
  };
  const roots = Object.entries(buckets)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, entries]): Element => {
      const elements = entries.map(([key, value]) => ({ flags: 0, key, value }));
      return {
        flags: 1,
        key: Buffer.from(name),
        value: entries.length <= inlineMax ? inline(elements) : bucket(tree(elements)),
      };
    });
  const root = tree(roots);
  const freeList = Buffer.alloc(pageBytes);
  header(freeList, { id: 2, flags: 0x10, count: 0, overflow: 0 });
  const metas = [0, 1].map((id) => meta({ id, pageBytes, root, pages: next, txid: BigInt(10 - id) }));
  return Buffer.concat([...metas, freeList, ...pages]);
}

function bucket(page: number): Buffer {
  const value = Buffer.alloc(16);
  value.writeBigUInt64LE(BigInt(page));
  return value;
}

function inline(elements: readonly Element[]): Buffer {
  const page = Buffer.alloc(headerBytes);
  header(page, { id: 0, flags: 2, count: elements.length, overflow: 0 });
  return Buffer.concat([bucket(0), page, leafBody(elements)]);
}

interface HeaderFields {
  readonly id: number;
  readonly flags: number;
  readonly count: number;
  readonly overflow: number;
}

function header(page: Buffer, { id, flags, count, overflow }: HeaderFields): void {
  page.writeBigUInt64LE(BigInt(id));
  page.writeUInt16LE(flags, 8);
  page.writeUInt16LE(count, 10);
  page.writeUInt32LE(overflow, 12);
}

function leafBody(elements: readonly Element[]): Buffer {
  const table = Buffer.alloc(elements.length * elementBytes);
  let position = table.length;
  elements.forEach(({ flags, key, value }, index) => {
    const at = index * elementBytes;
    table.writeUInt32LE(flags, at);
    table.writeUInt32LE(position - at, at + 4);
    table.writeUInt32LE(key.length, at + 8);
    table.writeUInt32LE(value.length, at + 12);
    position += key.length + value.length;
  });
  return Buffer.concat([table, ...elements.flatMap(({ key, value }) => [key, value])]);
}

function branchBody(children: readonly { readonly key: Buffer; readonly page: number }[]): Buffer {
  const table = Buffer.alloc(children.length * elementBytes);
  let position = table.length;
  children.forEach(({ key, page }, index) => {
    const at = index * elementBytes;
    table.writeUInt32LE(position - at, at);
    table.writeUInt32LE(key.length, at + 4);
    table.writeBigUInt64LE(BigInt(page), at + 8);
    position += key.length;
  });
  return Buffer.concat([table, ...children.map(({ key }) => key)]);
}

interface MetaFields {
  readonly id: number;
  readonly pageBytes: number;
  readonly root: number;
  readonly pages: number;
  readonly txid: bigint;
}

function meta({ id, pageBytes, root, pages, txid }: MetaFields): Buffer {
  const page = Buffer.alloc(pageBytes);
  header(page, { id, flags: 4, count: 0, overflow: 0 });
  page.writeUInt32LE(0xed0cdaed, 16);
  page.writeUInt32LE(2, 20);
  page.writeUInt32LE(pageBytes, 24);
  page.writeBigUInt64LE(BigInt(root), 32);
  page.writeBigUInt64LE(2n, 48);
  page.writeBigUInt64LE(BigInt(pages), 56);
  page.writeBigUInt64LE(txid, 64);
  page.writeBigUInt64LE(fnv1a(page.subarray(16, 72)), 72);
  return page;
}

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  all.length === 0
    ? [[]]
    : Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
