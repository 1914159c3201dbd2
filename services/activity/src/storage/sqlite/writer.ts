/** Writes of the SQLite driver. Every method is one transaction. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventRow } from '../../events/event.ts';
import { dayOf, startOfDay } from '../contract.ts';
import type { ActivityDraft, Appended, NewEvent } from '../contract.ts';
import {
  activitiesTable,
  configureWriter,
  createActivityPartition,
  createEventPartition,
  eventsTable,
  partitionDays,
  seenTable,
} from './schema.ts';

interface EventStatements {
  readonly see: StatementSync;
  readonly insert: StatementSync;
}

/** Rows that one transaction deletes from a dropped partition. */
const deletedAtOnce = 5_000;

export class SqliteWriter {
  readonly #database: DatabaseSync;
  readonly #partitions = new Map<number, EventStatements>();
  #activityDay = -1;
  #insertActivity: StatementSync | undefined;
  readonly #recall: StatementSync;
  readonly #remember: StatementSync;
  readonly #setMeta: StatementSync;
  readonly #meta: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    configureWriter(database);
    this.#recall = database.prepare('SELECT "values" FROM remembered WHERE plane = ? AND object = ?');
    this.#remember = database.prepare('REPLACE INTO remembered VALUES (?, ?, ?, ?)');
    this.#setMeta = database.prepare('UPDATE meta SET value = ? WHERE name = ?');
    this.#meta = database.prepare('SELECT value FROM meta WHERE name = ?');
  }

  append(events: readonly NewEvent[], nowUs: number): Appended {
    return this.#transaction(() => {
      let sequence = this.#number('sequence');
      let version = this.#number('version');
      const [firstSequence, firstVersion] = [sequence, version];
      const changed = new Set<string>();
      for (const { row, draft } of events) {
        const partition = this.#eventPartition(dayOf(row.timeUs));
        if (partition.see.run(row.digest).changes === 0) continue;
        insertEvent(partition.insert, ++sequence, row);
        const text = draft && this.#activityText(row, draft, nowUs);
        if (text === undefined) continue;
        this.#activityInsert(dayOf(nowUs)).run(++version, row.plane, row.timeUs, text);
        changed.add(row.plane);
      }
      if (sequence !== firstSequence) this.#setMeta.run(sequence, 'sequence');
      if (version !== firstVersion) this.#setMeta.run(version, 'version');
      return { added: sequence - firstSequence, version, changedPlanes: [...changed] };
    });
  }

  /** The partitions disappear for readers at once, and are deleted in small transactions. */
  async retain(beforeUs: number): Promise<void> {
    const isOld = (day: number): boolean => startOfDay(day + 1) <= beforeUs;
    for (const day of partitionDays(this.#database, 'events').filter(isOld)) {
      this.#partitions.delete(day);
      this.#transaction(() => {
        for (const table of [eventsTable(day), seenTable(day)]) this.#setAside(table);
      });
    }
    for (const day of partitionDays(this.#database, 'activities').filter(isOld)) {
      if (this.#activityDay === day) this.#activityDay = -1;
      this.#transaction(() => {
        const table = activitiesTable(day);
        const last = this.#database.prepare(`SELECT max(version) AS last FROM ${table}`).get()!['last'];
        this.#setMeta.run(Math.max(this.#number('floor'), Number(last ?? 0)), 'floor');
        this.#setAside(table);
      });
    }
    this.#database.prepare('DELETE FROM remembered WHERE day < ?').run(dayOf(beforeUs));
    await this.deleteDropped();
  }

  /** Deletes partitions that were dropped, also before the last crash. */
  async deleteDropped(): Promise<void> {
    const rows = this.#database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'dropped_*'")
      .all();
    for (const name of rows.map((row) => String(row['name']))) {
      const key = name.includes('_seen_') ? 'digest' : 'rowid';
      const some = this.#database.prepare(
        `DELETE FROM ${name} WHERE ${key} IN (SELECT ${key} FROM ${name} LIMIT ${deletedAtOnce})`,
      );
      while (some.run().changes > 0) await new Promise(setImmediate);
      this.#database.exec(`DROP TABLE ${name}`);
    }
  }

  #setAside(table: string): void {
    this.#database.exec(`DROP TABLE IF EXISTS dropped_${table}; ALTER TABLE ${table} RENAME TO dropped_${table}`);
  }

  #activityText(row: EventRow, draft: ActivityDraft, nowUs: number): string | undefined {
    const { objectKey, remembered } = draft;
    if (objectKey === undefined) return draft.render({});
    const known = this.#recall.get(row.plane, objectKey)?.['values'];
    const text = draft.render(known === undefined ? {} : (JSON.parse(String(known)) as Record<string, unknown>));
    if (remembered) this.#remember.run(row.plane, objectKey, dayOf(nowUs), JSON.stringify(remembered));
    return text;
  }

  #eventPartition(day: number): EventStatements {
    let statements = this.#partitions.get(day);
    if (!statements) {
      createEventPartition(this.#database, day);
      statements = {
        see: this.#database.prepare(`INSERT OR IGNORE INTO ${seenTable(day)} VALUES (?)`),
        insert: this.#database.prepare(
          `INSERT INTO ${eventsTable(day)} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ),
      };
      this.#partitions.set(day, statements);
    }
    return statements;
  }

  #activityInsert(day: number): StatementSync {
    if (this.#activityDay !== day || !this.#insertActivity) {
      createActivityPartition(this.#database, day);
      this.#insertActivity = this.#database.prepare(`INSERT INTO ${activitiesTable(day)} VALUES (?, ?, ?, ?)`);
      this.#activityDay = day;
    }
    return this.#insertActivity;
  }

  #number(name: string): number {
    return Number(this.#meta.get(name)!['value']);
  }

  #transaction<Result>(work: () => Result): Result {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      // Partitions that this transaction created no longer exist.
      this.#partitions.clear();
      this.#activityDay = -1;
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

function insertEvent(statement: StatementSync, sequence: number, row: EventRow): void {
  const { plane, timeUs, auditId, stage, verb, username, apiGroup, resource, subresource, namespace, name } = row;
  const { code, text } = row;
  statement.run(
    sequence,
    plane,
    timeUs,
    auditId,
    stage,
    verb,
    username,
    apiGroup,
    resource,
    subresource,
    namespace,
    name,
    code,
    text,
  );
}
