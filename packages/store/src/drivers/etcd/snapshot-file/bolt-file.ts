/**
 * Reads the buckets of a bbolt file. Every page is checked before its entries are used, and is used once, so that a damaged file ends in
 * an error and never in a loop. Memory: one path of the tree, and a few blocks of the file.
 */

import { damaged, metaBytes, readBranch, readBucket, readLeaf, readMeta, readPageHeader } from './bolt-page.ts';
import type { BucketRoot, LeafElement, Meta } from './bolt-page.ts';

/** Reads bytes at any place of a file. */
export interface RandomAccess {
  readonly sizeBytes: number;
  /** Returns exactly `length` bytes. The range is inside of the file. */
  read(position: number, length: number): Promise<Buffer>;
}

export interface BoltFile {
  readonly meta: Meta;
  readonly file: RandomAccess;
}

/** Largest page with its overflow. etcd refuses requests of more than a few megabytes. */
const pageBytesMax = 32 * 2 ** 20;
/** A tree of 8 GB has 4 levels. */
const depthMax = 32;

/** Throws `StorageDamaged` unless one of both meta pages is valid and the file has all its pages. */
export async function openBolt(file: RandomAccess): Promise<BoltFile> {
  const metas = [await metaAt(file, 0)];
  // The second meta page is one page behind the first, which can be damaged.
  const sizes = metas[0] ? [metas[0].pageBytes] : [1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];
  for (const size of sizes) metas.push(await metaAt(file, size));
  const [meta] = metas.filter((one) => one !== undefined).sort((a, b) => (a.txid < b.txid ? 1 : -1));
  if (!meta) throw damaged('it has no valid meta page');
  if (meta.pages * meta.pageBytes > file.sizeBytes) throw damaged('the file is shorter than its pages');
  return { meta, file };
}

async function metaAt(file: RandomAccess, position: number): Promise<Meta | undefined> {
  if (position + metaBytes > file.sizeBytes) return undefined;
  const meta = readMeta(await file.read(position, metaBytes));
  return meta && (position === 0 || meta.pageBytes === position) ? meta : undefined;
}

/** Returns the buckets of the file by their names. */
export async function bucketsOf(bolt: BoltFile): Promise<ReadonlyMap<string, BucketRoot>> {
  const buckets = new Map<string, BucketRoot>();
  for await (const entries of leavesOf(bolt, { page: bolt.meta.root })) {
    for (const { key, value, isBucket } of entries) {
      if (!isBucket) throw damaged('the root has an entry that is not a bucket');
      buckets.set(key.toString('latin1'), readBucket(Buffer.from(value)));
    }
  }
  return buckets;
}

/** Yields the entries of a bucket page by page, each page and its entries in descending order of keys. Views are valid until the next page. */
export async function* leavesOf(bolt: BoltFile, root: BucketRoot): AsyncGenerator<readonly LeafElement[], void, void> {
  if ('inline' in root) {
    const header = readPageHeader(root.inline);
    if (header.isBranch) throw damaged('an inline page is not a leaf');
    return yield readLeaf(root.inline, header).reverse();
  }
  const seen = new Uint8Array(Math.ceil(bolt.meta.pages / 8));
  let above: Buffer | undefined;
  for await (const entries of descend(bolt, root.page, seen, 0)) {
    const last = entries.at(-1);
    if (above && entries[0] && entries[0].key.compare(above) >= 0) throw damaged('pages are not in the order of keys');
    if (last) above = Buffer.from(last.key);
    yield entries;
  }
}

async function* descend(
  bolt: BoltFile,
  id: number,
  seen: Uint8Array,
  depth: number,
): AsyncGenerator<readonly LeafElement[], void, void> {
  if (depth > depthMax) throw damaged('the tree is too deep');
  const page = await readPage(bolt, id, seen);
  const header = readPageHeader(page);
  if (!header.isBranch) return yield readLeaf(page, header).reverse();
  // Of the branch page only the numbers stay in memory while its children are read.
  const children = readBranch(page, header).map((element) => element.page);
  for (const child of children.reverse()) yield* descend(bolt, child, seen, depth + 1);
}

async function readPage({ meta, file }: BoltFile, id: number, seen: Uint8Array): Promise<Buffer> {
  const { pageBytes, pages } = meta;
  if (!(id >= 2 && id < pages)) throw damaged(`page ${id} is outside of the file`);
  const mask = 1 << (id & 7);
  if ((seen[id >> 3]! & mask) !== 0) throw damaged(`page ${id} is used twice`);
  seen[id >> 3]! |= mask;
  const first = await file.read(id * pageBytes, pageBytes);
  const { id: noted, overflow } = readPageHeader(first);
  if (noted !== id) throw damaged(`page ${id} has the number ${noted}`);
  if (overflow === 0) return first;
  if (id + overflow >= pages) throw damaged(`page ${id} continues behind the end of the file`);
  const length = (overflow + 1) * pageBytes;
  if (length > pageBytesMax) throw damaged(`page ${id} has ${length} bytes`);
  return file.read(id * pageBytes, length);
}
