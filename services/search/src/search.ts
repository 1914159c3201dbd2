/**
 * Answers a search: scans the index, keeps what the caller may read, and stops at the limit.
 *
 *     query ──► expressions ──► scan ──► rows ──► rights of the caller ──► results
 *                                ▲                       │
 *                                └── denied cells, next position ◄──┘
 *
 * Limits of time, rows and reviews bound the work of one request. A search that reaches one returns its results, the reason, and a cursor to
 * continue. The response has no total.
 */

import { tooManyRequests } from '@hangar/api';
import type { StatusError } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { User } from '@hangar/server/library';
import { limitDefault, limitMax } from './api/search.ts';
import type { SearchResult, SearchSpec, SearchStatus } from './api/search.ts';
import { Readable } from './authorization/readable.ts';
import type { Review } from './authorization/readable.ts';
import type { Scope } from './authorization/scope.ts';
import { bindingOf, openCursor, sealCursor } from './cursor.ts';
import type { CursorContext } from './cursor.ts';
import type { Cell, Position, Row } from './index-store/contract.ts';
import type { Generation } from './index-store/generation.ts';
import type { SearchIndex } from './index-store/search-index.ts';
import { matchingOf, tierScores } from './query/match.ts';
import type { Matching } from './query/match.ts';
import { parseQuery } from './query/parse.ts';
import { snippetOf } from './snippet.ts';

export interface SearcherOptions {
  readonly index: Pick<SearchIndex, 'current' | 'isRebuilding'>;
  readonly review: Review;
  readonly clock: Clock;
}

/** Rows that one request reads, and those of one scan. */
const visitsMax = 50_000;
const rowsPerScanMax = 200;
/** Time of one request, and of one scan in the thread. */
const timeMaxMs = 2_000;
const scanTimeMaxMs = 100;
/** Searches that run at the same time: the thread of the index does one scan at a time. */
const searchesMax = 64;
/** Those of one control plane, or of one user of the management plane, so that they leave room for others. */
const searchesPerCallerMax = 8;

interface Asked {
  readonly user: User;
  readonly scope: Scope;
}

export class Searcher {
  readonly #options: SearcherOptions;
  #running = 0;
  /** Running searches by `callerOf`. */
  readonly #byCaller = new Map<string, number>();

  constructor(options: SearcherOptions) {
    this.#options = options;
  }

  /** Throws 400 for an invalid query, 410 for a cursor of an earlier generation, and 429 if too many searches are running. */
  async search(spec: SearchSpec, asked: Asked): Promise<SearchStatus> {
    const caller = callerOf(asked);
    const own = this.#byCaller.get(caller) ?? 0;
    if (this.#running >= searchesMax || own >= searchesPerCallerMax) throw tooManySearches();
    this.#running++;
    this.#byCaller.set(caller, own + 1);
    try {
      return await this.#search(spec, asked);
    } finally {
      this.#running--;
      const left = this.#byCaller.get(caller)! - 1;
      if (left > 0) this.#byCaller.set(caller, left);
      else this.#byCaller.delete(caller);
    }
  }

  async #search(spec: SearchSpec, { user, scope }: Asked): Promise<SearchStatus> {
    const { index, review, clock } = this.#options;
    const limit = Math.min(spec.limit ?? limitDefault, limitMax);
    const clusters = clustersOf(spec, scope);
    const matching = matchingOf(parseQuery(spec.query), clusters);
    const generation = index.current;
    const cursor: CursorContext = {
      key: generation.cursorKey,
      generation: generation.id,
      binding: bindingOf(user, scope, spec.query, clusters ?? null),
    };
    const readable = new Readable({ review, user, scope });
    const page = new Page({ limit, endMs: clock.monotonicMs() + timeMaxMs, clock });
    let next: Position | undefined =
      spec.continue === undefined || spec.continue === '' ? undefined : openCursor(cursor, spec.continue);
    if (clusters?.length !== 0)
      next = await this.#fill(page, { generation, matching, clusters, readable, after: next });
    const incomplete = page.incomplete ?? incompleteOf(generation, readable, scope);
    return {
      results: page.rows.map(({ row, cell }) => resultOf(row, cell, matching)),
      ...(next ? { continue: sealCursor(cursor, next) } : {}),
      ...(incomplete ? { incomplete } : {}),
      generation: generation.id,
      ...(index.isRebuilding ? { rebuilding: true } : {}),
    };
  }

  /** Returns the position after the page; undefined: there are no more results. */
  async #fill(page: Page, filling: Filling): Promise<Position | undefined> {
    const { generation, matching, clusters, readable } = filling;
    let { after } = filling;
    for (;;) {
      const { rows, cells, next, visits } = await generation.scan({
        tiers: matching.tiers,
        prefixes: matching.prefixes,
        after,
        clusters,
        deniedCells: readable.deniedCells,
        rowsMax: rowsPerScanMax,
        visitsMax: visitsMax - page.visits,
        timeMaxMs: scanTimeMaxMs,
      });
      page.visits += visits;
      const last = page.add(await readable.filter(rows, cells), cells);
      // More rows than fit: continue after the last one of the page.
      if (last) return last;
      if (!next) return undefined;
      if (page.isOver(readable)) return next;
      after = next;
    }
  }
}

interface Filling {
  readonly generation: Generation;
  readonly matching: Matching;
  readonly clusters: readonly string[] | undefined;
  readonly readable: Readable;
  readonly after: Position | undefined;
}

interface PageOptions {
  readonly limit: number;
  readonly endMs: number;
  readonly clock: Clock;
}

/** The results of one request. */
class Page {
  readonly rows: { readonly row: Row; readonly cell: Cell }[] = [];
  visits = 0;
  incomplete: SearchStatus['incomplete'];
  readonly #options: PageOptions;

  constructor(options: PageOptions) {
    this.#options = options;
  }

  /** Adds rows up to the limit. Returns the position of the last row if the page is full. */
  add(rows: readonly Row[], cells: readonly Cell[]): Position | undefined {
    const byId = new Map(cells.map((cell) => [cell.id, cell]));
    for (const row of rows) {
      this.rows.push({ row, cell: byId.get(row.cell)! });
      if (this.rows.length >= this.#options.limit) return { tier: row.tier, id: row.id };
    }
    return undefined;
  }

  isOver(readable: Readable): boolean {
    const { clock, endMs } = this.#options;
    if (this.visits < visitsMax && clock.monotonicMs() < endMs && !readable.isExhausted) return false;
    this.incomplete = {
      reason: 'LimitReached',
      message: 'the search reached its limit of work; use status.continue, or a query with more words or filters',
    };
    return true;
  }
}

/** An administrator of a control plane chooses the names of its users, so they share one limit. */
const callerOf = ({ user, scope }: Asked): string =>
  scope.type === 'cluster' ? `cluster ${scope.cluster}` : `user ${user.name}`;

/** Returns undefined if all control planes are searched. */
function clustersOf({ clusters }: SearchSpec, scope: Scope): readonly string[] | undefined {
  if (scope.type === 'platform') return clusters && clusters.length > 0 ? [...new Set(clusters)] : undefined;
  return !clusters || clusters.length === 0 || clusters.includes(scope.cluster) ? [scope.cluster] : [];
}

function incompleteOf(generation: Generation, readable: Readable, scope: Scope): SearchStatus['incomplete'] {
  if (!generation.isSynced) {
    return { reason: 'IndexBuilding', message: 'the index is being built and does not have all objects yet' };
  }
  if (readable.hasFailed) {
    return { reason: 'ReviewFailed', message: 'some rights could not be reviewed; objects may be missing' };
  }
  if (scope.type === 'cluster' && generation.isLimited(scope.cluster)) {
    return { reason: 'TooManyKinds', message: 'the control plane has too many custom resources; some are not indexed' };
  }
  return undefined;
}

function resultOf(row: Row, cell: Cell, { words }: Matching): SearchResult {
  const snippet = snippetOf(`${row.labels}\n${row.body}`, words);
  return {
    cluster: cell.cluster,
    apiVersion: row.apiVersion,
    kind: row.kind,
    ...(cell.namespace === '' ? {} : { namespace: cell.namespace }),
    name: row.name,
    uid: row.uid,
    resourceVersion: row.resourceVersion,
    ...(snippet === '' ? {} : { snippet }),
    score: words.length === 0 ? 1 : tierScores[row.tier]!,
  };
}

const tooManySearches = (): StatusError => tooManyRequests('too many searches are running; try again later', 1);
