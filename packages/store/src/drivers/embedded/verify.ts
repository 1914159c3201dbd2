/**
 * Verifies that a database is intact: its structure by SQLite's own check, the content of rows by their checksums, and the tables without
 * checksums against the log, from which each of their rows can be derived.
 */

import type { DatabaseSync } from 'node:sqlite';
import type { Lease } from '../../contract.ts';
import type { Row } from '../../engine/rows.ts';
import { fieldsChecksum, rowChecksum } from './checksum.ts';
import type { ChecksumSeed } from './checksum.ts';
import { pragma, readCreated } from './schema.ts';
import type { Created } from './schema.ts';
import { damaged } from './sqlite-errors.ts';

/** Throws `StorageDamaged`; SQLite's own errors pass through. */
export function verify(database: DatabaseSync, path: string, seed: ChecksumSeed): void {
  const problem = pragma(database, 'quick_check(1)');
  if (problem !== 'ok') throw damaged(path, String(problem));
  checkLog(database, path, seed);
  checkLeases(database, path, seed);
  for (const [what, sql] of Object.entries(contradictions)) {
    const [{ n } = { n: 0 }] = database.prepare(`SELECT count(*) AS n FROM (${sql})`).all() as { n: number }[];
    if (n > 0) throw damaged(path, `${what}: ${n}`);
  }
}

function checkLog(database: DatabaseSync, path: string, seed: ChecksumSeed): void {
  const rows = database.prepare(
    'SELECT id, revision, key, value, created, version, lease, previous AS previousId, checksum FROM log',
  );
  for (const stored of rows.iterate()) {
    const { checksum, created, ...row } = stored as unknown as Row & { checksum: number; created: Created };
    checkRow({ ...row, ...readCreated(created) }, { seed, checksum, path });
  }
}

/** Checksum to compare with, and the path to report on a mismatch. */
export interface Checked {
  seed: ChecksumSeed;
  checksum: number | null;
  path: string;
}

/** Checks that a row of the log is as it was written. */
export function checkRow(row: Row, { seed, checksum, path }: Checked): void {
  // The same bytes as text have the same checksum.
  const isBytes = row.value === null || row.value === undefined || row.value instanceof Uint8Array;
  if (isBytes && rowChecksum(seed, row) === checksum) return;
  throw damaged(path, `the checksum of ${JSON.stringify(row.key)} at revision ${row.revision} is wrong`);
}

export function checkLease({ id, ttlMs }: Lease, { seed, checksum, path }: Checked): void {
  if (fieldsChecksum(seed, id, ttlMs) !== checksum) throw damaged(path, `the checksum of the lease ${id} is wrong`);
}

function checkLeases(database: DatabaseSync, path: string, seed: ChecksumSeed): void {
  const leases = database.prepare('SELECT id, ttl_ms AS ttlMs, checksum FROM lease').all();
  for (const { checksum, ...lease } of leases as unknown as (Lease & { checksum: number })[]) {
    checkLease(lease, { seed, checksum, path });
  }
}

/**
 * Each query finds invalid rows. A row with a value is live, or past until its successor is compacted; so the counts must match as well, or
 * a row of `live` or `past` is lost.
 */
const contradictions = {
  'keys without a value': `
    SELECT 1 FROM live v LEFT JOIN log l ON l.id = v.id
    WHERE l.id IS NULL OR l.key IS NOT v.key OR l.value IS NULL
      OR v.bytes IS NOT length(CAST(l.key AS BLOB)) + length(l.value)`,
  'old values without the write that replaced them': `
    SELECT 1 FROM past p LEFT JOIN log l ON l.id = p.id
    WHERE l.id IS NULL OR l.key IS NOT p.key OR l.value IS NULL
      OR EXISTS (SELECT 1 FROM live v WHERE v.key = p.key AND v.id = p.id)`,
  'writes without the value that they replaced': `
    SELECT 1 FROM log l LEFT JOIN past p ON p.key = l.key AND p.id = l.previous
    WHERE l.previous > 0 AND l.id >= (SELECT obsolete_from FROM meta) AND p.dead IS NOT l.revision`,
  'values without a key': `
    SELECT 1 WHERE (SELECT count(*) FROM log WHERE value IS NOT NULL)
      IS NOT (SELECT count(*) FROM live) + (SELECT count(*) FROM past)`,
  'old values that no write replaced': `
    SELECT 1 WHERE (SELECT count(*) FROM past)
      IS NOT (SELECT count(*) FROM log WHERE previous > 0 AND id >= (SELECT obsolete_from FROM meta))`,
  'keys that a lease lists but that are not attached to it': `
    SELECT 1 FROM leased d LEFT JOIN live v ON v.key = d.key LEFT JOIN log l ON l.id = v.id
    WHERE l.lease IS NOT d.lease OR d.lease NOT IN (SELECT id FROM lease)`,
  'keys that their lease does not list': `
    SELECT 1 FROM live v JOIN log l ON l.id = v.id LEFT JOIN leased d ON d.lease = l.lease AND d.key = v.key
    WHERE l.lease IS NOT NULL AND d.key IS NULL`,
} as const;
