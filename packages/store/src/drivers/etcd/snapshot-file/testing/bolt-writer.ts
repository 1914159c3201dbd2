/** Writes small bbolt files for tests: buckets with sorted entries, in pages with few entries, so that trees have several levels. */

import type { LeafElement } from '../bolt-page.ts';
import { branchPage, bucketValue, freeListPage, inlineBucket, leafPage, metaPage } from '../bolt-page-writer.ts';
import type { PagePlace } from '../bolt-page-writer.ts';

export interface WriterOptions {
  readonly pageBytes?: number;
  /** Entries of a page. More: a branch page above. */
  readonly fanOut?: number;
  /** Buckets of at most this many entries are inline. */
  readonly inlineMax?: number;
}

export type Entries = readonly (readonly [key: Buffer, value: Buffer])[];

/** Returns a database without the SHA-256 behind it. */
export function boltDatabase(buckets: Readonly<Record<string, Entries>>, options: WriterOptions = {}): Buffer {
  const { pageBytes = 4_096, fanOut = 4, inlineMax = 0 } = options;
  const pages: Buffer[] = [];
  let next = 3;
  /** Returns the number of the page. */
  const put = (encode: (place: PagePlace) => Buffer): number => {
    const id = next;
    const page = encode({ id, pageBytes });
    pages.push(page);
    next += page.length / pageBytes;
    return id;
  };
  const tree = (elements: readonly LeafElement[]): number => {
    const leaves = chunks(elements, fanOut).map((some) => ({
      key: some[0]?.key ?? Buffer.alloc(0),
      page: put((place) => leafPage(place, some)),
    }));
    let level = leaves;
    while (level.length > 1) {
      level = chunks(level, fanOut).map((some) => ({
        key: some[0]!.key,
        page: put((place) => branchPage(place, some)),
      }));
    }
    return level[0]!.page;
  };
  const roots = Object.entries(buckets)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, entries]): LeafElement => {
      const elements = entries.map(([key, value]) => ({ isBucket: false, key, value }));
      return {
        isBucket: true,
        key: Buffer.from(name),
        value: entries.length <= inlineMax ? inlineBucket(elements) : bucketValue(tree(elements)),
      };
    });
  const root = tree(roots);
  const metas = [0, 1].map((id) =>
    metaPage({ id, pageBytes }, { root, freeList: 2, pages: next, txid: BigInt(10 - id) }),
  );
  return Buffer.concat([...metas, freeListPage({ id: 2, pageBytes }), ...pages]);
}

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  all.length === 0
    ? [[]]
    : Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
