/**
 * Reads results from the database of one generation, in the order of the tiers and newest first. Runs in a separate thread.
 *
 * A scan visits the ids in ranges and checks its limits between them, so that no query blocks the thread for long: an expression with
 * common words that never occur together costs the time of one range before the limit applies.
 */

import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { termsOf } from '../document/terms.ts';
import type { Cell, Position, Row, ScanReply, ScanRequest } from './contract.ts';
import { configureReader } from './schema.ts';

/** Ids of one range. */
const rangeSize = 100_000;
/** Rows between two checks of the time. */
const checkEvery = 64;
const cellsMax = 50_000;

interface Found {
  readonly id: number;
  readonly cell: number;
}

type DocumentRow = Omit<Row, 'tier' | 'isNamed' | 'resourceVersion' | 'apiVersion'> & {
  readonly version: string;
  readonly api: string;
};

export class IndexReader {
  readonly #database: DatabaseSync;
  readonly #matches: StatementSync;
  readonly #document: StatementSync;
  readonly #cellById: StatementSync;
  readonly #named: StatementSync;
  readonly #hasNames: StatementSync;
  readonly #lastId: StatementSync;
  readonly #cells = new Map<number, Cell>();

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    configureReader(this.#database);
    this.#matches = this.#database.prepare(
      `SELECT w.rowid AS id, d.cell AS cell FROM words w JOIN documents d ON d.id = w.rowid
       WHERE words MATCH ? AND w.rowid > ? AND w.rowid < ? ORDER BY w.rowid DESC`,
    );
    this.#document = this.#database.prepare(
      'SELECT id, cell, name, uid, version, api, kind, labels, body FROM documents WHERE id = ?',
    );
    this.#cellById = this.#database.prepare(
      'SELECT id, cluster, grp AS "group", resource, namespace FROM cells WHERE id = ?',
    );
    this.#named = this.#database.prepare(
      `SELECT 1 FROM grants WHERE cluster = ? AND name IN (?, '*') AND resource IN (?, '*') AND grp IN (?, '*')
       AND namespace IN ('', ?) LIMIT 1`,
    );
    this.#hasNames = this.#database.prepare(
      `SELECT 1 FROM grants WHERE cluster = ? AND resource IN (?, '*') AND grp IN (?, '*') AND namespace IN ('', ?) LIMIT 1`,
    );
    this.#lastId = this.#database.prepare('SELECT max(id) AS id FROM documents');
  }

  scan(request: ScanRequest): ScanReply {
    const scan = new Scan(request);
    const start = request.after ?? { tier: 0, id: Infinity };
    const lastId = ((this.#lastId.get() as { id: number | null }).id ?? 0) + 1;
    for (let tier = start.tier; tier < request.tiers.length; tier++) {
      let before = Math.min(tier === start.tier ? start.id : Infinity, lastId);
      while (before > 1) {
        const from = Math.max(0, before - 1 - rangeSize);
        const stoppedAt = this.#scanRange(scan, { tier, after: from, before });
        if (stoppedAt !== undefined) return scan.reply({ tier, id: stoppedAt });
        before = from + 1;
        if (before > 1 && scan.isOver()) return scan.reply({ tier, id: before });
      }
      if (tier + 1 < request.tiers.length && scan.isOver()) return scan.reply({ tier: tier + 1, id: lastId });
    }
    return scan.reply(undefined);
  }

  close(): void {
    this.#database.close();
  }

  /** Returns the id at which a limit stopped the scan. */
  #scanRange(scan: Scan, range: { tier: number; after: number; before: number }): number | undefined {
    const { tier, after, before } = range;
    const expression = scan.request.tiers[tier]!;
    for (const found of this.#matches.iterate(expression, after, before) as Iterable<unknown>) {
      const { id, cell } = found as Found;
      this.#visit(scan, { id, cell, tier });
      if (scan.rows.length >= scan.request.rowsMax || ++scan.visits >= scan.request.visitsMax) return id;
      if (scan.visits % checkEvery === 0 && scan.isOver()) return id;
    }
    return undefined;
  }

  #visit(scan: Scan, { id, cell: cellId, tier }: Found & { tier: number }): void {
    const isDenied = scan.denied.has(cellId);
    if (isDenied && !this.#cellHasNames(scan, cellId)) return;
    const cell = this.#cell(cellId);
    // Terms of control planes are digests; the value decides.
    if (!cell || (scan.clusters && !scan.clusters.has(cell.cluster))) return;
    const row = this.#document.get(id) as unknown as DocumentRow | undefined;
    if (!row || !hasPrefixes(row, scan.request.prefixes)) return;
    const isNamed = this.#isNamed(cell, row.name);
    if (isDenied && !isNamed) return;
    const { version: resourceVersion, api: apiVersion, ...others } = row;
    scan.cells.set(cellId, cell);
    scan.rows.push({ ...others, resourceVersion, apiVersion, tier, isNamed });
  }

  /** Reports whether a role names any object of the cell. */
  #cellHasNames(scan: Scan, cellId: number): boolean {
    let hasNames = scan.hasNames.get(cellId);
    if (hasNames === undefined) {
      const cell = this.#cell(cellId);
      hasNames =
        cell !== undefined && this.#hasNames.get(cell.cluster, cell.resource, cell.group, cell.namespace) !== undefined;
      scan.hasNames.set(cellId, hasNames);
    }
    return hasNames;
  }

  #isNamed({ cluster, group, resource, namespace }: Cell, name: string): boolean {
    return this.#named.get(cluster, name, resource, group, namespace) !== undefined;
  }

  #cell(id: number): Cell | undefined {
    let cell = this.#cells.get(id);
    if (!cell) {
      const row = this.#cellById.get(id) as unknown as Cell | undefined;
      if (!row) return undefined;
      if (this.#cells.size >= cellsMax) this.#cells.clear();
      this.#cells.set(id, (cell = { ...row }));
    }
    return cell;
  }
}

function hasPrefixes({ name, labels, body }: DocumentRow, prefixes: readonly string[]): boolean {
  if (prefixes.length === 0) return true;
  const terms = termsOf(`${name}\n${labels}\n${body}`);
  return prefixes.every((prefix) => terms.some((term) => term.startsWith(prefix)));
}

class Scan {
  readonly request: ScanRequest;
  readonly denied: ReadonlySet<number>;
  readonly clusters: ReadonlySet<string> | undefined;
  readonly rows: Row[] = [];
  readonly cells = new Map<number, Cell>();
  readonly hasNames = new Map<number, boolean>();
  visits = 0;
  readonly #endMs: number;

  constructor(request: ScanRequest) {
    this.request = request;
    this.denied = new Set(request.deniedCells);
    this.clusters = request.clusters && new Set(request.clusters);
    this.#endMs = performance.now() + request.timeMaxMs;
  }

  isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  reply(next: Position | undefined): ScanReply {
    return { rows: this.rows, cells: [...this.cells.values()], next, visits: this.visits };
  }
}
