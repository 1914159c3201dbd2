/** Histories of keys as etcd stores them, for tests of the reader. */

import { encodeMessage } from '../../testing/etcd-proto.ts';
import type { RandomAccess } from '../bolt-file.ts';
import type { Entries } from './bolt-writer.ts';

/** Undefined: a deletion. Change 0 has revision 2, as in etcd. */
export type ChangeOfKey = readonly [key: string, value: string | undefined];

/** The entries of the bucket `key`. */
export const entriesOf = (changes: readonly ChangeOfKey[]): Entries =>
  changes.map(([key, value], index) => {
    const place = Buffer.alloc(value === undefined ? 18 : 17);
    place.writeBigUInt64BE(BigInt(index + 2));
    place[8] = 0x5f;
    if (value === undefined) place[17] = 0x74;
    const content =
      value === undefined ? {} : { create_revision: 2, mod_revision: index + 2, version: 1, value: Buffer.from(value) };
    return [place, encodeMessage('KeyValue', { key: Buffer.from(key), ...content })];
  });

/** The keys that exist after all changes. */
export function currentOf(changes: readonly ChangeOfKey[]): Map<string, string> {
  const current = new Map<string, string>();
  for (const [key, value] of changes) {
    if (value === undefined) current.delete(key);
    else current.set(key, value);
  }
  return current;
}

export const inMemory = (bytes: Buffer): RandomAccess => ({
  sizeBytes: bytes.length,
  read: (position, length) => Promise.resolve(bytes.subarray(position, position + length)),
});
