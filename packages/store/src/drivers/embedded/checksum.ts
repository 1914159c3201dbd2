/**
 * SQLite trusts the disk; we do not. Every row carries a checksum over all of it, so that a flipped bit becomes an error
 * that names the file instead of an object that never was. The checksums begin with the store's id: rows that strayed
 * in from the files of another data directory do not pass either.
 */

import { crc32 } from 'node:zlib';
import type { Row } from '../../engine/rows.ts';
import { createdOf } from './schema.ts';

export type ChecksumSeed = number;

export function checksumSeed(storeId: string): ChecksumSeed {
  return crc32(storeId);
}

export function rowChecksum(seed: ChecksumSeed, row: Row): number {
  const { id, revision, key, value, version, lease, previousId } = row;
  // A tombstone and an empty value must differ; everything that may hold spaces comes last or has none.
  const place = `${id} ${revision} ${createdOf(row)} ${version} ${previousId} ${lease ?? '-'} ${value ? '+' : '-'} `;
  const checksum = crc32(place + key, seed);
  return value ? crc32(value, checksum) : checksum;
}

/** For the small tables: the fields that belong together. */
export function fieldsChecksum(seed: ChecksumSeed, ...fields: (string | number)[]): number {
  return crc32(fields.join(' '), seed);
}
