/** Tables of the PostgreSQL database: as those of SQLite, with partitions that the server selects by the time. */

import { startOfDay } from '../contract.ts';

/** Texts are compared by their bytes, as CEL compares them by code points. */
const text = 'text COLLATE "C" NOT NULL';

/** The lock that makes replicas create tables, and append batches, one after the other. */
export const appendLock = 4_729_001;

export const schema = `
  CREATE TABLE IF NOT EXISTS activity_meta (name text PRIMARY KEY, value bigint, secret bytea);
  INSERT INTO activity_meta (name, value) VALUES ('version', 1), ('sequence', 0), ('floor', 0) ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS activity_remembered (
    plane ${text}, object ${text}, day int NOT NULL, "values" text NOT NULL, PRIMARY KEY (plane, object)
  );
  CREATE TABLE IF NOT EXISTS activity_volumes (
    day int NOT NULL, plane ${text}, bytes bigint NOT NULL, dropped bigint NOT NULL, PRIMARY KEY (day, plane)
  );
  CREATE TABLE IF NOT EXISTS activity_events (
    sequence bigint NOT NULL, plane ${text}, time_us bigint NOT NULL, digest bytea NOT NULL, audit_id ${text}, stage ${text},
    verb ${text}, username ${text}, api_group ${text}, resource ${text}, subresource ${text}, namespace ${text}, name ${text},
    code int NOT NULL, body text NOT NULL, PRIMARY KEY (digest, time_us)
  ) PARTITION BY RANGE (time_us);
  CREATE INDEX IF NOT EXISTS activity_events_plane ON activity_events (plane, time_us, sequence);
  CREATE INDEX IF NOT EXISTS activity_events_time ON activity_events (time_us, sequence);
  CREATE TABLE IF NOT EXISTS activity_activities (
    version bigint NOT NULL, plane ${text}, time_us bigint NOT NULL, committed_us bigint NOT NULL, body text NOT NULL
  ) PARTITION BY RANGE (committed_us);
  CREATE INDEX IF NOT EXISTS activity_activities_version ON activity_activities (version);
  CREATE INDEX IF NOT EXISTS activity_activities_plane ON activity_activities (plane, version)`;

/** Returns the size of all tables with their indexes. */
export const sizeQuery = `
  SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname LIKE 'activity\\_%'`;

export type Partitioned = 'activity_events' | 'activity_activities';

export const partitionName = (table: Partitioned, day: number): string => `${table}_${day}`;

export const partition = (table: Partitioned, day: number): string =>
  `CREATE TABLE IF NOT EXISTS ${partitionName(table, day)} PARTITION OF ${table}
   FOR VALUES FROM (${startOfDay(day)}) TO (${startOfDay(day + 1)})`;

/** Returns the days of all partitions of a table; the name is the parameter. */
export const partitionQuery = `
  SELECT c.relname AS name FROM pg_inherits i
  JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
  WHERE p.relname = $1 ORDER BY c.relname`;
