/** Writes of the SQLite driver. Every method is one transaction. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventRow } from '../../events/event.ts';
import { dayOf, startOfDay } from '../contract.ts';
import type { ActivityDraft, Appended, NewEvent, RetainOptions } from '../contract.ts';
import { DayVolumes, defaultVolumeLimits } from '../volume.ts';
import type { Volume, VolumeLimits } from '../volume.ts';
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
  readonly #volume: StatementSync;
  readonly #setVolume: StatementSync;
  readonly #setMeta: StatementSync;
  readonly #meta: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    configureWriter(database);
    this.#recall = database.prepare('SELECT "values" FROM remembered WHERE plane = ? AND object = ?');
    this.#remember = database.prepare('REPLACE INTO remembered VALUES (?, ?, ?, ?)');
    this.#volume = database.prepare('SELECT bytes, dropped FROM volumes WHERE day = ? AND plane = ?');
    this.#setVolume = database.prepare('REPLACE INTO volumes VALUES (?, ?, ?, ?)');
    this.#setMeta = database.prepare('UPDATE meta SET value = ? WHERE name = ?');
    this.#meta = database.prepare('SELECT value FROM meta WHERE name = ?');
  }

  append(events: readonly NewEvent[], nowUs: number, limits: VolumeLimits = defaultVolumeLimits): Appended {
    return this.#transaction(() => {
      const volumes = new DayVolumes(limits, this.#volumesOf(events, dayOf(nowUs)));
      let sequence = this.#number('sequence');
      let version = this.#number('version');
      const [firstSequence, firstVersion] = [sequence, version];
      const changed = new Set<string>();
      for (const { row, draft, withoutObjects } of events) {
        const form = volumes.next(row.plane);
        if (form === 'None') continue;
        const partition = this.#eventPartition(dayOf(row.timeUs));
        if (partition.see.run(row.digest).changes === 0) continue;
        const stored = form === 'Whole' ? row : { ...row, text: withoutObjects() };
        insertEvent(partition.insert, ++sequence, stored);
        volumes.add(row.plane, stored.text);
        const text = draft && this.#activityText(row, draft, nowUs);
        if (text === undefined) continue;
        this.#activityInsert(dayOf(nowUs)).run(++version, row.plane, row.timeUs, text);
        volumes.add(row.plane, text);
        changed.add(row.plane);
      }
      for (const [plane, { bytes, dropped }] of volumes.changed) {
        this.#setVolume.run(dayOf(nowUs), plane, bytes, dropped);
      }
      if (sequence !== firstSequence) this.#setMeta.run(sequence, 'sequence');
      if (version !== firstVersion) this.#setMeta.run(version, 'version');
      const added = sequence - firstSequence;
      return { added, version, changedPlanes: [...changed], limitedPlanes: volumes.limited };
    });
  }

  #volumesOf(events: readonly NewEvent[], day: number): Map<string, Volume> {
    const volumes = new Map<string, Volume>();
    for (const plane of new Set(events.map(({ row }) => row.plane))) {
      const known = this.#volume.get(day, plane);
      if (known) volumes.set(plane, { bytes: Number(known['bytes']), dropped: Number(known['dropped']) });
    }
    return volumes;
  }

  async retain({ beforeUs, nowUs, bytesMax }: RetainOptions): Promise<boolean> {
    await this.#drop((day) => startOfDay(day + 1) <= beforeUs);
    this.#database.prepare('DELETE FROM remembered WHERE day < ?').run(dayOf(beforeUs));
    this.#database.prepare('DELETE FROM volumes WHERE day < ?').run(dayOf(beforeUs));
    while (this.#bytes() > bytesMax) {
      const days = [...partitionDays(this.#database, 'events'), ...partitionDays(this.#database, 'activities')];
      const oldest = Math.min(...days);
      if (oldest >= dayOf(nowUs)) return false;
      await this.#drop((day) => day === oldest);
    }
    return true;
  }

  /** Returns the size of the used pages: free ones are used again. */
  #bytes(): number {
    const pragma = (name: string): number => Number(this.#database.prepare(`PRAGMA ${name}`).get()![name]);
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  }

  /** The partitions disappear for readers at once, and are deleted in small transactions. */
  async #drop(isDropped: (day: number) => boolean): Promise<void> {
    for (const day of partitionDays(this.#database, 'events').filter(isDropped)) {
      this.#partitions.delete(day);
      this.#transaction(() => {
        for (const table of [eventsTable(day), seenTable(day)]) this.#setAside(table);
      });
    }
    for (const day of partitionDays(this.#database, 'activities').filter(isDropped)) {
      if (this.#activityDay === day) this.#activityDay = -1;
      this.#transaction(() => {
        const table = activitiesTable(day);
        const last = this.#database.prepare(`SELECT max(version) AS last FROM ${table}`).get()!['last'];
        this.#setMeta.run(Math.max(this.#number('floor'), Number(last ?? 0)), 'floor');
        this.#setAside(table);
      });
    }
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
