/** Notes in an SQLite table. Every method is one synchronous step: nothing runs between a condition and its write. */

import { DatabaseSync } from 'node:sqlite';
import { Feed } from '@hangar/server/library';
import type { KindStorage, Listed } from '@hangar/server/library';
import type { Note } from './note.ts';

const select = "SELECT json_set(object, '$.metadata.resourceVersion', CAST(version AS TEXT)) AS note FROM notes";

export class NoteTable implements KindStorage<Note> {
  readonly #database: DatabaseSync;
  readonly #feed: Feed<Note>;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS notes (
        namespace TEXT, name TEXT, version INTEGER, object TEXT, PRIMARY KEY (namespace, name)
      )`);
    this.#feed = new Feed(this.version());
  }

  /** Kubernetes' versions begin at 1. */
  version(): number {
    return (this.#database.prepare('PRAGMA user_version').get()!['user_version'] as number) + 1;
  }

  get(namespace: string, name: string): Note | undefined {
    const row = this.#database.prepare(`${select} WHERE namespace = ? AND name = ?`).get(namespace, name);
    return row && (JSON.parse(row['note'] as string) as Note);
  }

  list(namespace: string): Listed<Note> {
    const rows = this.#database.prepare(`${select} WHERE ? IN ('', namespace)`).all(namespace);
    return { items: rows.map(({ note }) => JSON.parse(note as string) as Note), version: this.version() };
  }

  create(note: Note): number | undefined {
    return this.get(note.metadata.namespace!, note.metadata.name!) ? undefined : this.#put(note, undefined);
  }

  update(note: Note, expected: number): number | undefined {
    const previous = this.get(note.metadata.namespace!, note.metadata.name!);
    return Number(previous?.metadata.resourceVersion) === expected ? this.#put(note, previous) : undefined;
  }

  delete(namespace: string, name: string, expected: number): number | undefined {
    const object = this.get(namespace, name);
    if (Number(object?.metadata.resourceVersion) !== expected) return undefined;
    const version = this.#write('DELETE FROM notes WHERE namespace = ? AND name = ?', namespace, name);
    this.#feed.push({ type: 'deleted', version, object: object! });
    return version;
  }

  watch = (after: number, signal: AbortSignal) => this.#feed.watch(after, signal);
  close = (): void => this.#database.close();

  #put(note: Note, previous: Note | undefined): number {
    const { namespace = '', name = '' } = note.metadata;
    const values = [namespace, name, this.version() + 1, JSON.stringify(note)] as const;
    const version = this.#write('REPLACE INTO notes VALUES (?, ?, ?, ?)', ...values);
    const object = this.get(namespace, name)!;
    this.#feed.push(previous ? { type: 'updated', version, object, previous } : { type: 'created', version, object });
    return version;
  }

  /** The change and its version together, or neither. */
  #write(statement: string, ...values: (string | number)[]): number {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      this.#database.prepare(statement).run(...values);
      this.#database.exec(`PRAGMA user_version = ${this.version()}; COMMIT`);
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
    return this.version();
  }
}
