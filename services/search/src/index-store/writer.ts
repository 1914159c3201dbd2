/** Writes documents to the database of one generation, in one transaction for each batch of changes. Runs in a separate thread. */

import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import type { Document, DocumentKey } from '../document/document.ts';
import { indexTerms } from '../document/index-terms.ts';
import { resourceKey } from './contract.ts';
import type { Change, OpenedIndex, ResourceName } from './contract.ts';
import { configureWriter } from './schema.ts';

/** Tenants choose the namespaces: above this number, the cache of cells is cleared. */
const cellsMax = 100_000;

interface Stored {
  readonly id: number;
  readonly uid: string;
  readonly version: string;
  readonly api: string;
  readonly kind: string;
  readonly labels: string;
  readonly body: string;
}

export class IndexWriter {
  readonly #database: DatabaseSync;
  readonly #cells = new Map<string, number>();
  readonly #statements = new Map<string, StatementSync>();
  /** Resources whose list is not complete. The table `seen` has the documents that it returned. */
  readonly #listing = new Map<string, number>();
  #lastListing = 0;
  /** Documents whose words the batch changes; undefined: deleted. */
  readonly #changed = new Map<number, Document | undefined>();

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    try {
      configureWriter(this.#database);
      this.#database.exec(
        'CREATE TEMP TABLE seen (listing INTEGER, document INTEGER, PRIMARY KEY (listing, document)) WITHOUT ROWID',
      );
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  opened(): OpenedIndex {
    let cursorKey = this.#meta('cursor-key');
    if (cursorKey === undefined) {
      cursorKey = randomBytes(32).toString('base64');
      this.#run("INSERT INTO meta VALUES ('cursor-key', ?)", cursorKey);
    }
    const rows = this.#statement('SELECT resource, revision FROM progress').all() as unknown as ProgressRow[];
    const { count } = this.#get('SELECT count(*) AS count FROM documents') as { count: number };
    return {
      cursorKey,
      isReady: this.#meta('ready') === 'true',
      documents: count,
      progress: new Map(rows.map(({ resource, revision }) => [resource, revision])),
    };
  }

  /** Marks the generation as complete: it is used after a restart. */
  ready(): void {
    this.#run("INSERT OR REPLACE INTO meta VALUES ('ready', 'true')");
  }

  /** Applies all changes, or none. */
  apply(changes: readonly Change[]): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const change of changes) this.#apply(change);
      this.#writeWords();
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      // Cells of this transaction do not exist.
      this.#cells.clear();
      this.#changed.clear();
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  #apply(change: Change): void {
    switch (change.type) {
      case 'put':
        return this.#put(change.document);
      case 'delete':
        return this.#delete(change.key);
      case 'listing':
        return this.#beginList(change.resource);
      case 'listed':
        return this.#endList(change.resource);
      case 'progress':
        return this.#progress(change.resource, change.revision);
      case 'drop':
        return this.#drop(change.resource);
    }
  }

  #put(document: Document): void {
    const cell = this.#cell(document, true)!;
    const { name, uid, resourceVersion, apiVersion, kind, labels, body } = document;
    const stored = this.#get(
      'SELECT id, uid, version, api, kind, labels, body FROM documents WHERE cell = ? AND name = ?',
      cell,
      name,
    ) as Stored | undefined;
    const listing = this.#listing.get(resourceKey(document));
    if (!stored) {
      const { lastInsertRowid } = this.#run(
        'INSERT INTO documents (cell, name, uid, version, api, kind, labels, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        cell,
        name,
        uid,
        resourceVersion,
        apiVersion,
        kind,
        labels,
        body,
      );
      this.#changed.set(Number(lastInsertRowid), document);
      if (listing !== undefined) this.#see(listing, Number(lastInsertRowid));
      return;
    }
    if (listing !== undefined) this.#see(listing, stored.id);
    if (stored.version === resourceVersion && stored.uid === uid) return;
    const isSameText =
      stored.labels === labels && stored.body === body && stored.kind === kind && stored.api === apiVersion;
    this.#run(
      'UPDATE documents SET uid = ?, version = ?, api = ?, kind = ?, labels = ?, body = ? WHERE id = ?',
      uid,
      resourceVersion,
      apiVersion,
      kind,
      labels,
      body,
      stored.id,
    );
    // Most writes change only the status or the version: their words stay.
    if (!isSameText || document.grants) this.#changed.set(stored.id, document);
  }

  /** FTS5 writes rows in the order of their ids together, and others one by one. */
  #writeWords(): void {
    for (const id of [...this.#changed.keys()].toSorted((one, other) => one - other)) {
      const document = this.#changed.get(id);
      if (!document) this.#run('DELETE FROM words WHERE rowid = ?', id);
      else this.#run('REPLACE INTO words (rowid, terms) VALUES (?, ?)', id, indexTerms(document));
    }
    for (const [id, document] of this.#changed) if (document?.grants) this.#writeGrants(id, document);
    this.#changed.clear();
  }

  #writeGrants(id: number, { cluster, namespace, grants = [] }: Document): void {
    this.#run('DELETE FROM grants WHERE document = ?', id);
    for (const { group, resource, name } of grants) {
      this.#run(
        'INSERT OR IGNORE INTO grants VALUES (?, ?, ?, ?, ?, ?)',
        id,
        cluster,
        namespace,
        group,
        resource,
        name,
      );
    }
  }

  #delete(key: DocumentKey): void {
    const cell = this.#cell(key, false);
    if (cell === undefined) return;
    const stored = this.#get('SELECT id FROM documents WHERE cell = ? AND name = ?', cell, key.name);
    if (stored) this.#deleteDocument((stored as { id: number }).id);
  }

  #deleteDocument(id: number): void {
    this.#run('DELETE FROM documents WHERE id = ?', id);
    this.#run('DELETE FROM grants WHERE document = ?', id);
    this.#changed.set(id, undefined);
  }

  #beginList(resource: ResourceName): void {
    this.#forgetList(resource);
    this.#listing.set(resourceKey(resource), ++this.#lastListing);
  }

  #endList(resource: ResourceName): void {
    const listing = this.#listing.get(resourceKey(resource));
    if (listing === undefined) return;
    for (const id of this.#idsOf(resource)) {
      if (!this.#get('SELECT 1 FROM seen WHERE listing = ? AND document = ?', listing, id)) this.#deleteDocument(id);
    }
    this.#forgetList(resource);
  }

  #forgetList(resource: ResourceName): void {
    const listing = this.#listing.get(resourceKey(resource));
    if (listing === undefined) return;
    this.#run('DELETE FROM seen WHERE listing = ?', listing);
    this.#listing.delete(resourceKey(resource));
  }

  #see(listing: number, id: number): void {
    this.#run('INSERT OR IGNORE INTO seen VALUES (?, ?)', listing, id);
  }

  #progress(resource: ResourceName, revision: string): void {
    if (revision === '') this.#run('DELETE FROM progress WHERE resource = ?', resourceKey(resource));
    else this.#run('INSERT OR REPLACE INTO progress VALUES (?, ?)', resourceKey(resource), revision);
  }

  #drop(resource: ResourceName): void {
    for (const id of this.#idsOf(resource)) this.#deleteDocument(id);
    this.#progress(resource, '');
  }

  #idsOf({ group, resource }: ResourceName): number[] {
    const rows = this.#statement(
      'SELECT d.id FROM cells c JOIN documents d ON d.cell = c.id WHERE c.grp = ? AND c.resource = ?',
    ).all(group, resource) as unknown as { id: number }[];
    return rows.map(({ id }) => id);
  }

  #cell({ cluster, group, resource, namespace }: Omit<DocumentKey, 'name'>, mayInsert: boolean): number | undefined {
    const key = `${cluster}\0${group}\0${resource}\0${namespace}`;
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const sql = 'SELECT id FROM cells WHERE grp = ? AND resource = ? AND cluster = ? AND namespace = ?';
    const row = this.#get(sql, group, resource, cluster, namespace) as { id: number } | undefined;
    if (!row && !mayInsert) return undefined;
    const insert = 'INSERT INTO cells (cluster, grp, resource, namespace) VALUES (?, ?, ?, ?)';
    const id = row?.id ?? Number(this.#run(insert, cluster, group, resource, namespace).lastInsertRowid);
    if (this.#cells.size >= cellsMax) this.#cells.clear();
    this.#cells.set(key, id);
    return id;
  }

  #meta(key: string): string | undefined {
    return (this.#get('SELECT value FROM meta WHERE key = ?', key) as { value: string } | undefined)?.value;
  }

  #statement(sql: string, isWrite = false): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      // FTS5 has rows with large ids: the last id of a write can exceed a number.
      if (isWrite) statement.setReadBigInts(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #run(sql: string, ...values: (string | number)[]): ReturnType<StatementSync['run']> {
    return this.#statement(sql, true).run(...values);
  }

  #get(sql: string, ...values: (string | number)[]): unknown {
    return this.#statement(sql).get(...values);
  }
}

interface ProgressRow {
  readonly resource: string;
  readonly revision: string;
}
