/**
 * Reads of the SQLite driver. A query examines the events of a partition in chunks, newest first: a statement never visits more rows than a
 * chunk has, so that a filter that matches little does not block other queries.
 */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { filterText } from '../../filter/sql.ts';
import type { Dialect, SqlFilter, StringTest } from '../../filter/sql.ts';
import { dayOf } from '../contract.ts';
import type {
  ActivityPage,
  ActivityQuery,
  EventPage,
  EventPosition,
  EventQuery,
  FoundEvent,
  StoredActivity,
  VisiblePlanes,
} from '../contract.ts';
import { mergedNewestFirst, shareOf } from '../merge.ts';
import { activitiesTable, columnNames, eventsTable, partitionDays } from './schema.ts';

const chunkRows = 5_000;

type Row = Readonly<Record<string, SQLInputValue>>;

/** One control plane, or all of them, in a range of time. */
interface Span {
  /** Undefined: all. */
  readonly plane: string | undefined;
  readonly startUs: number;
  readonly endUs: number;
}

export class SqliteReader {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async query(query: EventQuery): Promise<EventPage> {
    const { planes, startUs, endUs } = query;
    if (planes === 'all') {
      return mergedNewestFirst([await this.#span({ plane: undefined, startUs, endUs }, query)], query.limit);
    }
    const pages: EventPage[] = [];
    const own = shareOf(query, planes.length);
    for (const { name, sinceUs } of planes) {
      pages.push(await this.#span({ plane: name, startUs: Math.max(startUs, sinceUs), endUs }, own));
    }
    return mergedNewestFirst(pages, query.limit);
  }

  activities(query: ActivityQuery): ActivityPage {
    return this.#snapshot(() => {
      const activities: StoredActivity[] = [];
      for (const day of partitionDays(this.#database, 'activities')) {
        const missing = query.limit - activities.length;
        if (missing <= 0) break;
        activities.push(...this.#activitiesOf(day, { ...query, limit: missing }));
      }
      return { activities, version: this.#number('version'), floor: this.#number('floor') };
    });
  }

  countActivities({ planes, afterVersion, upToVersion = Number.MAX_SAFE_INTEGER, limit }: ActivityQuery): number {
    let count = 0;
    for (const day of partitionDays(this.#database, 'activities')) {
      for (const plane of planes === 'all' ? [undefined] : planes) {
        const { text, values } = visible(plane);
        const statement = this.#database.prepare(
          `SELECT count(*) AS n FROM (SELECT 1 FROM ${activitiesTable(day)} WHERE version > ? AND version <= ?${text} LIMIT ?)`,
        );
        count += Number(statement.get(afterVersion, upToVersion, ...values, limit - count)!['n']);
        if (count >= limit) return limit;
      }
    }
    return count;
  }

  activity(version: number, planes: VisiblePlanes): StoredActivity | undefined {
    const { activities } = this.activities({ planes, afterVersion: version - 1, upToVersion: version, limit: 1 });
    return activities[0];
  }

  secret(): Uint8Array {
    return this.#database.prepare("SELECT value FROM meta WHERE name = 'secret'").get()!['value'] as Uint8Array;
  }

  #activitiesOf(day: number, query: ActivityQuery): StoredActivity[] {
    const { planes, afterVersion, upToVersion = Number.MAX_SAFE_INTEGER, limit } = query;
    const found: StoredActivity[] = [];
    for (const plane of planes === 'all' ? [undefined] : planes) {
      const { text, values } = visible(plane);
      const statement = this.#database.prepare(
        `SELECT version, plane, text FROM ${activitiesTable(day)}
         WHERE version > ? AND version <= ?${text} ORDER BY version LIMIT ?`,
      );
      found.push(
        ...(statement.all(afterVersion, upToVersion, ...values, limit) as unknown as readonly StoredActivity[]),
      );
    }
    return found.sort((a, b) => a.version - b.version).slice(0, limit);
  }

  async #span(span: Span, query: EventQuery): Promise<EventPage> {
    const events: FoundEvent[] = [];
    let after = query.after;
    let examined = 0;
    let bytes = 0;
    const first = dayOf(span.startUs);
    const last = dayOf(Math.min(span.endUs - 1, after?.timeUs ?? span.endUs));
    const days = partitionDays(this.#database, 'events').filter((day) => day >= first && day <= last);
    for (const day of days.reverse()) {
      while (events.length < query.limit) {
        if (examined >= query.scanMax) return { events, next: after };
        const [limit, bytesMax] = [query.limit - events.length, query.bytesMax - bytes];
        const chunk = this.#chunk({ day, span, after, filter: query.filter, limit, bytesMax });
        if (!chunk) break;
        events.push(...chunk.events);
        bytes += chunk.bytes;
        if (bytes >= query.bytesMax) return { events, next: events.at(-1) };
        after = chunk.last;
        examined += chunk.examined;
        await new Promise(setImmediate);
        if (chunk.isEnd) break;
      }
      if (events.length >= query.limit) return { events, next: events.at(-1) };
    }
    return { events, next: undefined };
  }

  /** Examines the next rows of a partition; undefined: the partition has none. */
  #chunk({ day, span, after, filter, limit, bytesMax }: ChunkOptions): Chunk | undefined {
    const table = eventsTable(day);
    const where = whereOf(span, after);
    return this.#snapshot(() => {
      const rows = filter ? chunkRows : limit;
      const boundary = this.#database
        .prepare(
          `SELECT sequence, time_us AS timeUs FROM ${table} WHERE ${where.text} ORDER BY time_us DESC, sequence DESC LIMIT 1 OFFSET ?`,
        )
        .get(...where.values, rows - 1) as EventPosition | undefined;
      const parameters: SQLInputValue[] = [...where.values];
      const bounded = boundary ? ' AND (time_us, sequence) >= (?, ?)' : '';
      if (boundary) parameters.push(boundary.timeUs, boundary.sequence);
      const condition = filter ? ` AND ${filterText(filter, dialect(parameters))}` : '';
      const statement = this.#database.prepare(
        `SELECT * FROM ${table} WHERE ${where.text}${bounded}${condition} ORDER BY time_us DESC, sequence DESC LIMIT ?`,
      );
      const events: FoundEvent[] = [];
      let bytes = 0;
      // Row by row: the texts of all rows may be too large for the memory.
      for (const row of statement.iterate(...parameters, limit)) {
        const event = eventOf(row as Row);
        events.push(event);
        bytes += event.text.length;
        if (bytes >= bytesMax) break;
      }
      const isCut = events.length === limit || bytes >= bytesMax;
      const last = isCut ? events.at(-1) : boundary;
      const examined = { events, bytes, examined: rows };
      if (!last) return events.length === 0 ? undefined : { ...examined, last: events.at(-1)!, isEnd: true };
      return { ...examined, last, isEnd: false };
    });
  }

  #number(name: string): number {
    return Number(this.#database.prepare('SELECT value FROM meta WHERE name = ?').get(name)!['value']);
  }

  #snapshot<Result>(read: () => Result): Result {
    this.#database.exec('BEGIN');
    try {
      return read();
    } finally {
      this.#database.exec('COMMIT');
    }
  }
}

interface ChunkOptions {
  readonly day: number;
  readonly span: Span;
  readonly after: EventPosition | undefined;
  readonly filter: SqlFilter | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

interface Chunk {
  readonly events: readonly FoundEvent[];
  /** Size of the texts. */
  readonly bytes: number;
  /** Position of the last examined row. */
  readonly last: EventPosition;
  readonly examined: number;
  /** The partition has no more rows. */
  readonly isEnd: boolean;
}

function whereOf({ plane, startUs, endUs }: Span, after: EventPosition | undefined) {
  const parts = ['time_us >= ?', 'time_us < ?'];
  const values: SQLInputValue[] = [startUs, Math.min(endUs, (after?.timeUs ?? endUs) + 1)];
  if (plane !== undefined) {
    parts.unshift('plane = ?');
    values.unshift(plane);
  }
  if (after) {
    parts.push('(time_us, sequence) < (?, ?)');
    values.push(after.timeUs, after.sequence);
  }
  return { text: parts.join(' AND '), values };
}

function visible(plane: { readonly name: string; readonly sinceUs: number } | undefined) {
  const values: SQLInputValue[] = plane ? [plane.name, plane.sinceUs] : [];
  return { text: plane ? ' AND plane = ? AND time_us >= ?' : '', values };
}

function eventOf(row: Row): FoundEvent {
  return {
    sequence: Number(row['sequence']),
    timeUs: Number(row['time_us']),
    plane: String(row['plane']),
    text: String(row['text']),
    columns: {
      auditId: String(row['audit_id']),
      stage: String(row['stage']),
      verb: String(row['verb']),
      username: String(row['username']),
      apiGroup: String(row['api_group']),
      resource: String(row['resource']),
      subresource: String(row['subresource']),
      namespace: String(row['namespace']),
      name: String(row['name']),
      code: Number(row['code']),
    },
  };
}

/** Adds the values of placeholders to `parameters`. */
function dialect(parameters: SQLInputValue[]): Dialect {
  const parameter = (value: string | number): string => {
    parameters.push(value);
    return '?';
  };
  const tests: Readonly<Record<StringTest, (column: string, text: string) => string>> = {
    startsWith: (column, text) => `substr(${column}, 1, ${[...text].length}) = ${parameter(text)}`,
    endsWith: (column, text) => `substr(${column}, -${[...text].length}) = ${parameter(text)}`,
    contains: (column, text) => `instr(${column}, ${parameter(text)}) > 0`,
  };
  return { column: (name) => columnNames[name], parameter, test: (test, column, text) => tests[test](column, text) };
}
