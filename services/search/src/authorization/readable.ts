/**
 * Decides which rows of a scan the caller may read, with as few reviews as possible. Reviews are about cells (control plane, resource,
 * namespace), never about single results, and their results are cached for seconds:
 *
 *   1. may the caller list the resource in all namespaces of the control plane?
 *   2. otherwise: may the caller list it in the namespace, or get all objects there?
 *   3. otherwise, only for objects that the rules of a role name: may the caller get this object?
 *
 * For tenants, a caller of the management plane needs the right `get` of `tenants/feed`, which reads all objects of a tenant except the
 * values of Secrets; the index has nothing else. Unknown means no: a review that fails denies.
 */

import { eachAtOnce } from '@hangar/core';
import type { User } from '@hangar/server/library';
import type { Cell, Row } from '../index-store/contract.ts';
import { rootCluster } from './scope.ts';
import type { Scope } from './scope.ts';

/** A question about the rights of a user in a control plane. */
export interface Question {
  readonly verb: 'get' | 'list';
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace: string;
  readonly name: string;
}

/** Reviews a right in a control plane. Rejects if the review fails. */
export type Review = (cluster: string, user: User, question: Question) => Promise<boolean>;

/** Reviews of one search, and of those at the same time. */
const reviewsMax = 500;
const atOnceMax = 16;

export interface ReadableOptions {
  readonly review: Review;
  readonly user: User;
  readonly scope: Scope;
}

/** The rights of one caller during one search. */
export class Readable {
  readonly #options: ReadableOptions;
  readonly #cells = new Map<number, boolean>();
  readonly #answers = new Map<string, Promise<boolean>>();
  #reviews = 0;
  #hasFailed = false;

  constructor(options: ReadableOptions) {
    this.#options = options;
  }

  /** Cells in which the caller may read no objects, except those that a role names. */
  get deniedCells(): number[] {
    return this.#cells
      .entries()
      .filter(([, isAllowed]) => !isAllowed)
      .map(([cell]) => cell)
      .toArray();
  }

  /** True: a review failed, so that results may be missing. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** True: the search needs more reviews than the limit. */
  get isExhausted(): boolean {
    return this.#reviews >= reviewsMax;
  }

  /** Returns those of the rows that the caller may read, in order. */
  async filter(rows: readonly Row[], cells: readonly Cell[]): Promise<Row[]> {
    const byId = new Map(cells.map((cell) => [cell.id, cell]));
    await eachAtOnce(atOnceMax, cells, async (cell) => {
      if (!this.#cells.has(cell.id)) this.#cells.set(cell.id, await this.#mayReadCell(cell));
    });
    const readable = new Set<Row>();
    await eachAtOnce(atOnceMax, rows, async (row) => {
      if (this.#cells.get(row.cell) || (row.isNamed && (await this.#mayReadObject(byId.get(row.cell)!, row.name)))) {
        readable.add(row);
      }
    });
    return rows.filter((row) => readable.has(row));
  }

  async #mayReadCell({ cluster, group, resource, namespace }: Cell): Promise<boolean> {
    const { scope } = this.#options;
    if (scope.type === 'cluster' && scope.cluster !== cluster) return false;
    if (scope.type === 'platform' && cluster !== rootCluster) return this.#mayReadTenant(cluster);
    const everywhere = { verb: 'list', group, resource, namespace: '', name: '' } as const;
    if (await this.#ask(cluster, everywhere)) return true;
    if (namespace !== '' && (await this.#ask(cluster, { ...everywhere, namespace }))) return true;
    return this.#ask(cluster, { ...everywhere, verb: 'get', namespace });
  }

  /** One review for all tenants first: most callers may read all of them, or none. */
  async #mayReadTenant(cluster: string): Promise<boolean> {
    const tenants = { verb: 'get', group: 'tenancy.hangar.dev', resource: 'tenants', subresource: 'feed' } as const;
    const feed = { ...tenants, namespace: '' };
    return (await this.#ask(rootCluster, { ...feed, name: '' })) || this.#ask(rootCluster, { ...feed, name: cluster });
  }

  #mayReadObject({ cluster, group, resource, namespace }: Cell, name: string): Promise<boolean> {
    const { scope } = this.#options;
    const isOwn = scope.type === 'cluster' ? scope.cluster === cluster : cluster === rootCluster;
    return isOwn ? this.#ask(cluster, { verb: 'get', group, resource, namespace, name }) : Promise.resolve(false);
  }

  /** Equal questions cause one review. */
  #ask(cluster: string, question: Question): Promise<boolean> {
    const key = JSON.stringify([cluster, question]);
    let answer = this.#answers.get(key);
    if (!answer) this.#answers.set(key, (answer = this.#review(cluster, question)));
    return answer;
  }

  async #review(cluster: string, question: Question): Promise<boolean> {
    if (this.isExhausted) return false;
    this.#reviews++;
    const { review, user } = this.#options;
    try {
      return await review(cluster, user, question);
    } catch {
      this.#hasFailed = true;
      return false;
    }
  }
}
