/**
 * Pages of a bbolt file, the database of etcd. All numbers are little-endian. A page begins with 16 bytes, and continues on the `overflow`
 * pages behind it:
 *
 *     id u64 · flags u16 (1 branch, 2 leaf, 4 meta) · count u16 · overflow u32
 *
 * Pages 0 and 1 are meta pages, of the last and the second to last transaction. The valid one with the highest `txid` applies:
 *
 *     magic u32 · version u32 · page size u32 · flags u32 · root bucket (page u64, sequence u64)
 *     free list u64 · number of pages u64 · txid u64 · FNV-1a u64 of the 56 bytes in front
 *
 * Branch pages have `count` elements `offset u32 · key length u32 · page u64`, leaf pages `flags u32 · offset u32 · key length u32 ·
 * value length u32`. The offset of a key is relative to its element; the value follows the key. In a leaf with flag 1, the value is a
 * bucket: `page u64 · sequence u64`, and for page 0 an inline leaf page behind them.
 *
 * Worked example: a bucket `key` with two entries, in a file with pages of 4096 bytes and 4 pages.
 *
 *     page 0  meta, txid 6, root bucket at page 3, 4 pages
 *     page 1  meta, txid 5
 *     page 2  free list, not read
 *     page 3  leaf, count 1: element (flags 1, offset 16, key length 3), then "key", then the bucket 0·0 and its inline page:
 *               leaf, count 2: (0, offset 32, 17, 4) (0, offset 37, 17, 4)
 *               revision 2 (8 bytes big-endian) · "_" · 0 (8 bytes) → message …   revision 3 · "_" · 0 → message …
 */

import { StoreError } from '../../../errors.ts';

export const pageHeaderBytes = 16;
export const metaBytes = 80;
export const elementBytes = 16;
const bucketHeaderBytes = 16;

export const branchFlag = 1;
export const leafFlag = 2;
export const metaFlag = 4;
export const magic = 0xed0cdaed;
export const version = 2;
const pageBytesMin = 1_024;
const pageBytesMax = 65_536;

export interface Meta {
  readonly pageBytes: number;
  /** Page of the root bucket. */
  readonly root: number;
  readonly pages: number;
  readonly txid: bigint;
}

export interface PageHeader {
  readonly id: number;
  readonly isBranch: boolean;
  readonly count: number;
  /** Pages behind this one that belong to it. */
  readonly overflow: number;
}

export interface BranchElement {
  readonly key: Buffer;
  readonly page: number;
}

export interface LeafElement {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly isBucket: boolean;
}

/** The place of the entries of a bucket: a page of the file, or an inline page. */
export type BucketRoot = { readonly page: number } | { readonly inline: Buffer };

export const damaged = (what: string): StoreError =>
  new StoreError('StorageDamaged', `the snapshot of etcd is damaged: ${what}`);

/** Undefined: the page is not a valid meta page. `page` has at least `metaBytes`. */
export function readMeta(page: Buffer): Meta | undefined {
  const meta = page.subarray(pageHeaderBytes, metaBytes);
  const isMeta =
    page.readUInt16LE(8) === metaFlag && meta.readUInt32LE(0) === magic && meta.readUInt32LE(4) === version;
  if (!isMeta || meta.readBigUInt64LE(56) !== fnv1a(meta.subarray(0, 56))) return undefined;
  const pageBytes = meta.readUInt32LE(8);
  const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (!isPowerOfTwo || pageBytes < pageBytesMin || pageBytes > pageBytesMax) return undefined;
  return { pageBytes, root: number64(meta, 16), pages: number64(meta, 40), txid: meta.readBigUInt64LE(48) };
}

/** Checks the header of a page with entries. */
export function readPageHeader(page: Buffer): PageHeader {
  if (page.length < pageHeaderBytes) throw damaged('a page is too short');
  const flags = page.readUInt16LE(8);
  if (flags !== branchFlag && flags !== leafFlag) throw damaged(`a page with entries has flags ${flags}`);
  return {
    id: number64(page, 0),
    isBranch: flags === branchFlag,
    count: page.readUInt16LE(10),
    overflow: page.readUInt32LE(12),
  };
}

/** Returns views of the page, in the order of their keys. */
export function readBranch(page: Buffer, { count }: PageHeader): BranchElement[] {
  if (count === 0) throw damaged('a branch page is empty');
  return elements(page, count, (at) => {
    const key = slice(page, at + page.readUInt32LE(at), page.readUInt32LE(at + 4));
    return { key, page: number64(page, at + 8) };
  });
}

/** Returns views of the page, in the order of their keys. */
export function readLeaf(page: Buffer, { count }: PageHeader): LeafElement[] {
  return elements(page, count, (at) => {
    const start = at + page.readUInt32LE(at + 4);
    const keyBytes = page.readUInt32LE(at + 8);
    const key = slice(page, start, keyBytes);
    const value = slice(page, start + keyBytes, page.readUInt32LE(at + 12));
    return { key, value, isBucket: (page.readUInt32LE(at) & 1) !== 0 };
  });
}

export function readBucket(value: Buffer): BucketRoot {
  if (value.length < bucketHeaderBytes) throw damaged('the header of a bucket is too short');
  const page = number64(value, 0);
  return page === 0 ? { inline: value.subarray(bucketHeaderBytes) } : { page };
}

function elements<T extends { readonly key: Buffer }>(page: Buffer, count: number, read: (at: number) => T): T[] {
  if (pageHeaderBytes + count * elementBytes > page.length) throw damaged('a page has more elements than bytes');
  const all = Array.from({ length: count }, (_, index) => read(pageHeaderBytes + index * elementBytes));
  for (let at = 1; at < count; at++) {
    if (all[at - 1]!.key.compare(all[at]!.key) >= 0) throw damaged('the keys of a page are not in order');
  }
  return all;
}

function slice(page: Buffer, start: number, length: number): Buffer {
  if (start + length > page.length) throw damaged('an entry is outside of its page');
  return page.subarray(start, start + length);
}

/** Numbers of pages are small. A large one is damage, which later checks find. */
const number64 = (buffer: Buffer, at: number): number => Number(buffer.readBigUInt64LE(at));

/** The 64-bit FNV-1a hash. */
export function fnv1a(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
