/**
 * SQLite trusts the disk; we do not. Every row carries a checksum over its place, key and value, so that a flipped bit
 * becomes an error that names the file instead of an object that never was.
 */

import { crc32 } from 'node:zlib';
import type { Revision } from '../../contract.ts';

export function rowChecksum(row: {
  id: number;
  revision: Revision;
  key: string;
  value: Uint8Array | null | undefined;
}): number {
  const checksum = crc32(`${row.id} ${row.revision} ${row.key}`);
  return row.value ? crc32(row.value, checksum) : checksum;
}
