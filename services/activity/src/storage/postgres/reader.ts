/** Reads of the PostgreSQL driver. A statement of a filtered query examines a bounded number of rows. */

import type { Pool } from 'pg';
import { filterText } from '../../filter/sql.ts';
import type { Dialect, SqlFilter, StringTest } from '../../filter/sql.ts';
import type {
  ActivityPage,
  ActivityQuery,
  EventPage,
  EventPosition,
  EventQuery,
  FoundEvent,
  StoredActivity,
  VisiblePlane,
  VisiblePlanes,
} from '../contract.ts';
import { mergedNewestFirst, shareOf } from '../merge.ts';
import { columnNames } from '../sqlite/schema.ts';

const chunkRows = 5_000;

type Row = Readonly<Record<string, string>>;

/** One control plane, or all of them, in a range of time. */
interface Span {
  readonly plane: string | undefined;
  readonly startUs: number;
  readonly endUs: number;
}

class Parameters {
  readonly values: (string | number)[] = [];

  /** Returns the placeholder of a new parameter. */
  add(value: string | number): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

export class PostgresReader {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async query(query: EventQuery): Promise<EventPage> {
    const { planes, startUs, endUs } = query;
    const spans: Span[] =
      planes === 'all'
        ? [{ plane: undefined, startUs, endUs }]
        : planes.map(({ name, sinceUs }) => ({ plane: name, startUs: Math.max(startUs, sinceUs), endUs }));
    const pages: EventPage[] = [];
    const own = shareOf(query, spans.length);
    for (const span of spans) pages.push(await this.#span(span, own));
    return mergedNewestFirst(pages, query.limit);
  }

  async activities(query: ActivityQuery): Promise<ActivityPage> {
    const parameters = new Parameters();
    const where = activityCondition(query, parameters);
    // One statement is one state: the numbers belong to the rows.
    const { rows } = await this.#pool.query<Row>(
      `SELECT (SELECT value FROM activity_meta WHERE name = 'version') AS current,
              (SELECT value FROM activity_meta WHERE name = 'floor') AS floor, a.version, a.plane, a.body
       FROM (SELECT 1) one LEFT JOIN (
         SELECT version, plane, body FROM activity_activities WHERE ${where} ORDER BY version LIMIT ${parameters.add(query.limit)}
       ) a ON true ORDER BY a.version`,
      parameters.values,
    );
    const found = rows.filter((row) => row['version'] !== null);
    return {
      activities: found.map(activityOf),
      version: Number(rows[0]!['current']),
      floor: Number(rows[0]!['floor']),
    };
  }

  async countActivities(query: ActivityQuery): Promise<number> {
    const parameters = new Parameters();
    const where = activityCondition(query, parameters);
    const limit = parameters.add(query.limit);
    const text = `SELECT count(*) AS n FROM (SELECT 1 FROM activity_activities WHERE ${where} LIMIT ${limit}) counted`;
    const { rows } = await this.#pool.query<Row>(text, parameters.values);
    return Number(rows[0]!['n']);
  }

  async activity(version: number, planes: VisiblePlanes): Promise<StoredActivity | undefined> {
    const page = await this.activities({ planes, afterVersion: version - 1, upToVersion: version, limit: 1 });
    return page.activities[0];
  }

  async secret(): Promise<Uint8Array> {
    const { rows } = await this.#pool.query<{ secret: Buffer }>(
      "SELECT secret FROM activity_meta WHERE name = 'secret'",
    );
    return rows[0]!.secret;
  }

  async #span(span: Span, query: EventQuery): Promise<EventPage> {
    const events: FoundEvent[] = [];
    let after = query.after;
    let bytes = 0;
    for (let examined = 0; events.length < query.limit;) {
      if (examined >= query.scanMax) return { events, next: after };
      const limit = query.limit - events.length;
      const rows = query.filter ? chunkRows : limit;
      const boundary = await this.#boundary(span, after, rows);
      const bytesMax = query.bytesMax - bytes;
      const found = await this.#chunk({ span, after, boundary, filter: query.filter, limit, bytesMax });
      events.push(...found.events);
      bytes += found.bytes;
      examined += rows;
      if (found.events.length === limit || bytes >= query.bytesMax) break;
      if (!boundary) return { events, next: undefined };
      after = boundary;
    }
    return { events, next: events.at(-1) };
  }

  /** Returns the position of the last row of the next chunk; undefined if there are fewer rows. */
  async #boundary(span: Span, after: EventPosition | undefined, rows: number): Promise<EventPosition | undefined> {
    const parameters = new Parameters();
    const { rows: found } = await this.#pool.query<Row>(
      `SELECT time_us, sequence FROM activity_events WHERE ${spanCondition(span, after, parameters)}
       ORDER BY time_us DESC, sequence DESC LIMIT 1 OFFSET ${parameters.add(rows - 1)}`,
      parameters.values,
    );
    return found[0] && { timeUs: Number(found[0]['time_us']), sequence: Number(found[0]['sequence']) };
  }

  /** Bodies are read up to the limit of bytes: their sizes are known without them. */
  async #chunk({ span, after, boundary, filter, limit, bytesMax }: ChunkOptions): Promise<Chunk> {
    const parameters = new Parameters();
    const parts = [spanCondition(span, after, parameters)];
    if (boundary) {
      parts.push(`(time_us, sequence) >= (${parameters.add(boundary.timeUs)}, ${parameters.add(boundary.sequence)})`);
    }
    if (filter) parts.push(filterText(filter, dialect(parameters)));
    const { rows } = await this.#pool.query<Row>(
      `SELECT * FROM (
         SELECT *, sum(octet_length(body)) OVER (ORDER BY time_us DESC, sequence DESC ROWS UNBOUNDED PRECEDING) AS bytes
         FROM activity_events WHERE ${parts.join(' AND ')}
         ORDER BY time_us DESC, sequence DESC LIMIT ${parameters.add(limit)}
       ) sized WHERE bytes - octet_length(body) < ${parameters.add(bytesMax)} ORDER BY time_us DESC, sequence DESC`,
      parameters.values,
    );
    return { events: rows.map(eventOf), bytes: Number(rows.at(-1)?.['bytes'] ?? 0) };
  }
}

interface ChunkOptions {
  readonly span: Span;
  readonly after: EventPosition | undefined;
  readonly boundary: EventPosition | undefined;
  readonly filter: SqlFilter | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

interface Chunk {
  readonly events: readonly FoundEvent[];
  /** Size of the bodies. */
  readonly bytes: number;
}

function spanCondition(
  { plane, startUs, endUs }: Span,
  after: EventPosition | undefined,
  parameters: Parameters,
): string {
  const parts = [`time_us >= ${parameters.add(startUs)}`, `time_us < ${parameters.add(endUs)}`];
  if (plane !== undefined) parts.push(`plane = ${parameters.add(plane)}`);
  if (after) parts.push(`(time_us, sequence) < (${parameters.add(after.timeUs)}, ${parameters.add(after.sequence)})`);
  return parts.join(' AND ');
}

function activityCondition(query: ActivityQuery, parameters: Parameters): string {
  const { planes, afterVersion, upToVersion = Number.MAX_SAFE_INTEGER } = query;
  const versions = `version > ${parameters.add(afterVersion)} AND version <= ${parameters.add(upToVersion)}`;
  if (planes === 'all') return versions;
  const one = ({ name, sinceUs }: VisiblePlane): string =>
    `(plane = ${parameters.add(name)} AND time_us >= ${parameters.add(sinceUs)})`;
  return planes.length === 0 ? 'false AND ' + versions : `${versions} AND (${planes.map(one).join(' OR ')})`;
}

const activityOf = (row: Row): StoredActivity => ({
  version: Number(row['version']),
  plane: row['plane']!,
  text: row['body']!,
});

const eventOf = (row: Row): FoundEvent => ({
  sequence: Number(row['sequence']),
  timeUs: Number(row['time_us']),
  plane: row['plane']!,
  text: row['body']!,
  columns: {
    auditId: row['audit_id']!,
    stage: row['stage']!,
    verb: row['verb']!,
    username: row['username']!,
    apiGroup: row['api_group']!,
    resource: row['resource']!,
    subresource: row['subresource']!,
    namespace: row['namespace']!,
    name: row['name']!,
    code: Number(row['code']),
  },
});

function dialect(parameters: Parameters): Dialect {
  const tests: Readonly<Record<StringTest, (column: string, text: string) => string>> = {
    startsWith: (column, text) => `starts_with(${column}, ${parameters.add(text)})`,
    endsWith: (column, text) => `right(${column}, ${[...text].length}) = ${parameters.add(text)}`,
    contains: (column, text) => `strpos(${column}, ${parameters.add(text)}) > 0`,
  };
  return {
    column: (name) => columnNames[name],
    parameter: (value) => parameters.add(value),
    test: (test, column, text) => tests[test](column, text),
  };
}
