/**
 * Tables of the SQLite database:
 *
 *     meta             version of the last activity, sequence of the last event, floor of activities, secret
 *     events_20410     events of the day 20410 since 1970; `sequence` increases over all partitions
 *     seen_20410       digests of these events
 *     activities_20410 activities that were committed on that day
 *     remembered       values of objects, for summaries of their next change
 *     volumes          bytes that control planes stored on a day
 *     dropped_N        a partition that is being deleted
 */

import type { DatabaseSync } from 'node:sqlite';
import type { FilterColumn } from '../../filter/fields.ts';

const pageBytes = 8_192;
const cacheKib = 65_536;
/** The journal is moved into the database after this many pages. */
const checkpointPages = 2_000;
const busyTimeoutMs = 10_000;

/** A commit returns after the sync of the journal. */
export function configureWriter(database: DatabaseSync): void {
  database.exec(`
    PRAGMA page_size = ${pageBytes};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA cache_size = -${cacheKib};
    PRAGMA wal_autocheckpoint = ${checkpointPages};
    PRAGMA busy_timeout = ${busyTimeoutMs};
    PRAGMA temp_store = MEMORY;
    CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
    INSERT OR IGNORE INTO meta VALUES ('version', 1), ('sequence', 0), ('floor', 0), ('secret', randomblob(32));
    CREATE TABLE IF NOT EXISTS remembered (
      plane TEXT, object TEXT, day INTEGER, "values" TEXT, PRIMARY KEY (plane, object)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS remembered_by_day ON remembered (day);
    CREATE TABLE IF NOT EXISTS volumes (
      day INTEGER, plane TEXT, bytes INTEGER, dropped INTEGER, PRIMARY KEY (day, plane)
    ) STRICT, WITHOUT ROWID`);
}

export function configureReader(database: DatabaseSync): void {
  database.exec(`PRAGMA cache_size = -${cacheKib}; PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA query_only = ON`);
}

export const columnNames: Readonly<Record<FilterColumn, string>> = {
  auditId: 'audit_id',
  stage: 'stage',
  verb: 'verb',
  username: 'username',
  apiGroup: 'api_group',
  resource: 'resource',
  subresource: 'subresource',
  namespace: 'namespace',
  name: 'name',
  code: 'code',
  plane: 'plane',
  timeUs: 'time_us',
};

export const eventsTable = (day: number): string => `events_${day}`;
export const seenTable = (day: number): string => `seen_${day}`;
export const activitiesTable = (day: number): string => `activities_${day}`;

export function createEventPartition(database: DatabaseSync, day: number): void {
  const table = eventsTable(day);
  database.exec(`
    CREATE TABLE IF NOT EXISTS ${table} (
      sequence INTEGER PRIMARY KEY, plane TEXT, time_us INTEGER, audit_id TEXT, stage TEXT, verb TEXT, username TEXT,
      api_group TEXT, resource TEXT, subresource TEXT, namespace TEXT, name TEXT, code INTEGER, text TEXT
    ) STRICT;
    CREATE INDEX IF NOT EXISTS ${table}_plane ON ${table} (plane, time_us);
    CREATE INDEX IF NOT EXISTS ${table}_time ON ${table} (time_us);
    CREATE TABLE IF NOT EXISTS ${seenTable(day)} (digest BLOB PRIMARY KEY) STRICT, WITHOUT ROWID`);
}

export function createActivityPartition(database: DatabaseSync, day: number): void {
  const table = activitiesTable(day);
  database.exec(`
    CREATE TABLE IF NOT EXISTS ${table} (version INTEGER PRIMARY KEY, plane TEXT, time_us INTEGER, text TEXT) STRICT;
    CREATE INDEX IF NOT EXISTS ${table}_plane ON ${table} (plane, version)`);
}

/** Returns the days of all partitions with this prefix, in order. */
export function partitionDays(database: DatabaseSync, prefix: 'events' | 'activities'): number[] {
  const rows = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ? || '_[0-9]*'")
    .all(prefix);
  return rows.map(({ name }) => Number(String(name).slice(prefix.length + 1))).sort((a, b) => a - b);
}
