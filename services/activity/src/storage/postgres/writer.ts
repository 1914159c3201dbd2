/** Writes of the PostgreSQL driver. A lock orders the batches of all replicas, so that versions increase in the order of commits. */

import { randomBytes } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import type { EventRow } from '../../events/event.ts';
import { dayOf, startOfDay } from '../contract.ts';
import type { Appended, NewEvent, RetainOptions } from '../contract.ts';
import { DayVolumes, defaultVolumeLimits } from '../volume.ts';
import type { Volume, VolumeLimits } from '../volume.ts';
import { appendLock, partition, partitionName, partitionQuery, schema, sizeQuery } from './schema.ts';
import type { Partitioned } from './schema.ts';

/** Rows of one statement: parameters are limited to 65,535. */
const rowsAtOnce = 1_000;
const eventColumns =
  'sequence, plane, time_us, digest, audit_id, stage, verb, username, api_group, resource, subresource, namespace, name, code, body';

export class PostgresWriter {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async createTables(): Promise<void> {
    await this.#transaction(async (client) => {
      await client.query(schema);
      const secret = 'INSERT INTO activity_meta (name, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING';
      await client.query(secret, ['secret', randomBytes(32)]);
    });
  }

  append(events: readonly NewEvent[], nowUs: number, limits: VolumeLimits = defaultVolumeLimits): Promise<Appended> {
    return this.#transaction(async (client) => {
      const volumes = new DayVolumes(limits, await volumesOf(client, events, dayOf(nowUs)));
      const sequence = await number(client, 'sequence');
      const version = await number(client, 'version');
      for (const day of new Set(events.map(({ row }) => dayOf(row.timeUs)))) {
        await client.query(partition('activity_events', day));
      }
      const added: NewEvent[] = [];
      for (let at = 0; at < events.length; at += rowsAtOnce) {
        added.push(...(await insertEvents(client, events.slice(at, at + rowsAtOnce), sequence + at, volumes)));
      }
      const rendered = await renderAll(client, added, nowUs);
      for (const { plane, text } of rendered) volumes.add(plane, text);
      await setVolumes(client, volumes.changed, dayOf(nowUs));
      if (rendered.length > 0) await client.query(partition('activity_activities', dayOf(nowUs)));
      for (let at = 0; at < rendered.length; at += rowsAtOnce) {
        const some = rendered.slice(at, at + rowsAtOnce);
        await client.query(
          `INSERT INTO activity_activities SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[])`,
          [
            some.map((_, more) => version + at + more + 1),
            some.map(({ plane }) => plane),
            some.map(({ timeUs }) => timeUs),
            some.map(() => nowUs),
            some.map(({ text }) => text),
          ],
        );
      }
      const last = version + rendered.length;
      await setNumber(client, 'sequence', sequence + events.length);
      await setNumber(client, 'version', last);
      const changedPlanes = [...new Set(rendered.map(({ plane }) => plane))];
      return { added: added.length, version: last, changedPlanes, limitedPlanes: volumes.limited };
    });
  }

  retain({ beforeUs, nowUs, bytesMax }: RetainOptions): Promise<boolean> {
    return this.#transaction(async (client) => {
      await this.#drop(client, (day) => startOfDay(day + 1) <= beforeUs);
      for (const table of ['activity_remembered', 'activity_volumes']) {
        await client.query(`DELETE FROM ${table} WHERE day < $1`, [dayOf(beforeUs)]);
      }
      while ((await size(client)) > bytesMax) {
        const all = [...(await days(client, 'activity_events')), ...(await days(client, 'activity_activities'))];
        const oldest = Math.min(...all);
        if (oldest >= dayOf(nowUs)) return false;
        await this.#drop(client, (day) => day === oldest);
      }
      return true;
    });
  }

  async #drop(client: PoolClient, isDropped: (day: number) => boolean): Promise<void> {
    for (const table of ['activity_events', 'activity_activities'] as const) {
      for (const day of (await days(client, table)).filter(isDropped)) {
        if (table === 'activity_activities') await this.#raiseFloor(client, day);
        await client.query(`DROP TABLE ${partitionName(table, day)}`);
      }
    }
  }

  async #raiseFloor(client: PoolClient, day: number): Promise<void> {
    const name = partitionName('activity_activities', day);
    await client.query(
      `UPDATE activity_meta SET value = greatest(value, (SELECT coalesce(max(version), 0) FROM ${name})) WHERE name = 'floor'`,
    );
  }

  async #transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let failure: unknown;
    try {
      await client.query('BEGIN');
      await client.query('SELECT pg_advisory_xact_lock($1)', [appendLock]);
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // A connection with an open transaction is closed, which rolls it back.
      client.release(failure !== undefined);
    }
  }
}

/** Returns the events that were not stored before. */
async function insertEvents(
  client: PoolClient,
  all: readonly NewEvent[],
  sequence: number,
  volumes: DayVolumes,
): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  const rows: EventRow[] = [];
  for (const event of all) {
    const form = volumes.next(event.row.plane);
    if (form === 'None') continue;
    const row = form === 'Whole' ? event.row : { ...event.row, text: event.withoutObjects() };
    volumes.add(row.plane, row.text);
    rows.push(row);
    events.push(event);
  }
  const { rows: inserted } = await client.query<{ sequence: string }>(
    `INSERT INTO activity_events (${eventColumns}) SELECT * FROM unnest(
       $1::bigint[], $2::text[], $3::bigint[], $4::bytea[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
       $11::text[], $12::text[], $13::text[], $14::int[], $15::text[])
     ON CONFLICT DO NOTHING RETURNING sequence`,
    [
      rows.map((_, at) => sequence + at + 1),
      rows.map(({ plane }) => plane),
      rows.map(({ timeUs }) => timeUs),
      rows.map(({ digest }) => Buffer.from(digest)),
      rows.map(({ auditId }) => auditId),
      rows.map(({ stage }) => stage),
      rows.map(({ verb }) => verb),
      rows.map(({ username }) => username),
      rows.map(({ apiGroup }) => apiGroup),
      rows.map(({ resource }) => resource),
      rows.map(({ subresource }) => subresource),
      rows.map(({ namespace }) => namespace),
      rows.map(({ name }) => name),
      rows.map(({ code }) => code),
      rows.map(({ text }) => text),
    ],
  );
  const added = new Set(inserted.map((one) => Number(one.sequence) - sequence - 1));
  for (const [at, { plane, text }] of rows.entries()) if (!added.has(at)) volumes.remove(plane, text);
  return events.filter((_, at) => added.has(at));
}

async function volumesOf(client: PoolClient, events: readonly NewEvent[], day: number): Promise<Map<string, Volume>> {
  const planes = [...new Set(events.map(({ row }) => row.plane))];
  const { rows } = await client.query<{ plane: string; bytes: string; dropped: string }>(
    'SELECT plane, bytes, dropped FROM activity_volumes WHERE day = $1 AND plane = ANY($2)',
    [day, planes],
  );
  return new Map(rows.map((row) => [row.plane, { bytes: Number(row.bytes), dropped: Number(row.dropped) }]));
}

async function setVolumes(client: PoolClient, volumes: ReadonlyMap<string, Volume>, day: number): Promise<void> {
  await client.query(
    `INSERT INTO activity_volumes SELECT $1::int, * FROM unnest($2::text[], $3::bigint[], $4::bigint[])
     ON CONFLICT (day, plane) DO UPDATE SET bytes = excluded.bytes, dropped = excluded.dropped`,
    [
      day,
      [...volumes.keys()],
      Array.from(volumes.values(), ({ bytes }) => bytes),
      Array.from(volumes.values(), ({ dropped }) => dropped),
    ],
  );
}

interface Rendered {
  readonly plane: string;
  readonly timeUs: number;
  readonly text: string;
}

async function renderAll(client: PoolClient, events: readonly NewEvent[], nowUs: number): Promise<Rendered[]> {
  const rendered: Rendered[] = [];
  for (const { row, draft } of events) {
    if (!draft) continue;
    const { plane, timeUs } = row;
    const text = draft.render(draft.objectKey === undefined ? {} : await recall(client, plane, draft.objectKey));
    if (draft.objectKey !== undefined && draft.remembered) {
      await client.query(
        `INSERT INTO activity_remembered VALUES ($1, $2, $3, $4)
         ON CONFLICT (plane, object) DO UPDATE SET day = excluded.day, "values" = excluded."values"`,
        [plane, draft.objectKey, dayOf(nowUs), JSON.stringify(draft.remembered)],
      );
    }
    if (text !== undefined) rendered.push({ plane, timeUs, text });
  }
  return rendered;
}

async function recall(client: PoolClient, plane: string, object: string): Promise<Record<string, unknown>> {
  const { rows } = await client.query<{ values: string }>(
    'SELECT "values" FROM activity_remembered WHERE plane = $1 AND object = $2',
    [plane, object],
  );
  return rows[0] ? (JSON.parse(rows[0].values) as Record<string, unknown>) : {};
}

async function days(client: PoolClient, table: Partitioned): Promise<number[]> {
  const { rows } = await client.query<{ name: string }>(partitionQuery, [table]);
  return rows.map(({ name }) => Number(name.slice(table.length + 1)));
}

async function size(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(sizeQuery);
  return Number(rows[0]!.bytes);
}

async function number(client: PoolClient, name: string): Promise<number> {
  const { rows } = await client.query<{ value: string }>('SELECT value FROM activity_meta WHERE name = $1', [name]);
  return Number(rows[0]!.value);
}

async function setNumber(client: PoolClient, name: string, value: number): Promise<void> {
  await client.query('UPDATE activity_meta SET value = $2 WHERE name = $1', [name, value]);
}
