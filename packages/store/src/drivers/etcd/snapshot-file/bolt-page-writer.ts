/** Encodes pages of a bbolt file. `bolt-page.ts` describes the format. */

import { branchFlag, elementBytes, fnv1a, leafFlag, magic, metaFlag, pageHeaderBytes, version } from './bolt-page.ts';
import type { BranchElement, LeafElement } from './bolt-page.ts';

export interface PagePlace {
  readonly id: number;
  readonly pageBytes: number;
}

const freeListFlag = 0x10;

/** Bytes of the elements of a page, with its header. Several pages if they are more than one has. */
export const leafBytes = ({ key, value }: Pick<LeafElement, 'key' | 'value'>): number =>
  elementBytes + key.length + value.length;
export const branchBytes = ({ key }: Pick<BranchElement, 'key'>): number => elementBytes + key.length;

/** `elements` are in the order of their keys. */
export function leafPage(place: PagePlace, elements: readonly LeafElement[]): Buffer {
  let length = pageHeaderBytes;
  for (const element of elements) length += leafBytes(element);
  const page = newPage(place, length, leafFlag, elements.length);
  writeLeaf(page, elements);
  return page;
}

/** `elements` are in the order of their keys. */
export function branchPage(place: PagePlace, elements: readonly BranchElement[]): Buffer {
  let length = pageHeaderBytes;
  for (const element of elements) length += branchBytes(element);
  const page = newPage(place, length, branchFlag, elements.length);
  let position = pageHeaderBytes + elements.length * elementBytes;
  elements.forEach(({ key, page: child }, index) => {
    const at = pageHeaderBytes + index * elementBytes;
    page.writeUInt32LE(position - at, at);
    page.writeUInt32LE(key.length, at + 4);
    page.writeBigUInt64LE(BigInt(child), at + 8);
    position += key.copy(page, position);
  });
  return page;
}

/** No page is free. */
export const freeListPage = (place: PagePlace): Buffer => newPage(place, pageHeaderBytes, freeListFlag, 0);

export interface MetaFields {
  readonly root: number;
  readonly freeList: number;
  readonly pages: number;
  readonly txid: bigint;
}

export function metaPage(place: PagePlace, { root, freeList, pages, txid }: MetaFields): Buffer {
  const page = newPage(place, pageHeaderBytes, metaFlag, 0);
  page.writeUInt32LE(magic, 16);
  page.writeUInt32LE(version, 20);
  page.writeUInt32LE(place.pageBytes, 24);
  page.writeBigUInt64LE(BigInt(root), 32);
  page.writeBigUInt64LE(BigInt(freeList), 48);
  page.writeBigUInt64LE(BigInt(pages), 56);
  page.writeBigUInt64LE(txid, 64);
  page.writeBigUInt64LE(fnv1a(page.subarray(16, 72)), 72);
  return page;
}

/** The value of a bucket whose entries are in the tree below a page. */
export function bucketValue(page: number): Buffer {
  const value = Buffer.alloc(16);
  value.writeBigUInt64LE(BigInt(page));
  return value;
}

/** The value of a bucket with its entries. bbolt accepts it up to a quarter of a page. */
export function inlineBucket(elements: readonly LeafElement[]): Buffer {
  let length = pageHeaderBytes;
  for (const element of elements) length += leafBytes(element);
  const page = newPage({ id: 0, pageBytes: length }, length, leafFlag, elements.length);
  writeLeaf(page, elements);
  return Buffer.concat([bucketValue(0), page]);
}

function writeLeaf(page: Buffer, elements: readonly LeafElement[]): void {
  let position = pageHeaderBytes + elements.length * elementBytes;
  elements.forEach(({ key, value, isBucket }, index) => {
    const at = pageHeaderBytes + index * elementBytes;
    page.writeUInt32LE(isBucket ? 1 : 0, at);
    page.writeUInt32LE(position - at, at + 4);
    page.writeUInt32LE(key.length, at + 8);
    page.writeUInt32LE(value.length, at + 12);
    position += key.copy(page, position);
    position += value.copy(page, position);
  });
}

function newPage({ id, pageBytes }: PagePlace, length: number, flags: number, count: number): Buffer {
  const pages = Math.ceil(length / pageBytes);
  const page = Buffer.alloc(pages * pageBytes);
  page.writeBigUInt64LE(BigInt(id));
  page.writeUInt16LE(flags, 8);
  page.writeUInt16LE(count, 10);
  page.writeUInt32LE(pages - 1, 12);
  return page;
}
