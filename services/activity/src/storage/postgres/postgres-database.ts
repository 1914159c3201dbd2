/** The driver for PostgreSQL: several replicas of the service can use one database. */

import type { EventDatabase } from '../contract.ts';
import { PostgresReader } from './reader.ts';
import { PostgresWriter } from './writer.ts';

const connectionsMax = 4;
const connectTimeoutMs = 10_000;
/** A statement that takes longer is canceled: filters of tenants run in it. */
const statementTimeoutMs = 30_000;

/** Creates missing tables. Rejects if the database is unreachable. */
export async function openPostgres(address: string): Promise<EventDatabase> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw new Error('PostgreSQL needs the package "pg": install it beside Hangar with "npm install pg"', { cause });
  });
  const pool = new pg.Pool({
    connectionString: address,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
  });
  // The next use of the pool reports the failure of an idle connection.
  pool.on('error', () => undefined);
  try {
    const writer = new PostgresWriter(pool);
    await writer.createTables();
    const reader = new PostgresReader(pool);
    return {
      append: (...all) => writer.append(...all),
      query: (query) => reader.query(query),
      activities: (query) => reader.activities(query),
      countActivities: (query) => reader.countActivities(query),
      activity: (version, planes) => reader.activity(version, planes),
      secret: () => reader.secret(),
      retain: (options) => writer.retain(options),
      close: () => pool.end(),
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}
