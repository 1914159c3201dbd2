/** Usage of a quota, counted object by object, as in the controller. */

import type { KubeObject } from '../object.ts';
import { addInto, count, zero } from './amounts.ts';
import type { Amounts, MutableAmounts } from './amounts.ts';
import { evaluatorOf, resourceCountedBy } from './evaluators/choose.ts';
import type { CountedResource } from './evaluators/choose.ts';
import type { Evaluator } from './evaluators/evaluator.ts';
import type { Quota } from './quota.ts';

/** Returns the resources of a quota's limits, each with its limits. A limit without a resource is left out. */
export function limitsOf(names: Iterable<string>): (CountedResource & { readonly limits: readonly string[] })[] {
  const found = new Map<string, CountedResource & { readonly limits: string[] }>();
  for (const name of names) {
    const counted = resourceCountedBy(name);
    if (!counted) continue;
    const key = `${counted.group}/${counted.resource}`;
    const known = found.get(key);
    if (known) known.limits.push(name);
    else found.set(key, { ...counted, limits: [name] });
  }
  return [...found.values()];
}

/** Reports whether a quota counts such an object: all of its selectors must match it. */
export const isInScope = ({ selectors }: Pick<Quota, 'selectors'>, evaluator: Evaluator, object: KubeObject): boolean =>
  selectors.every((selector) => evaluator.matchesScope(selector, object));

export interface TallyOptions extends CountedResource {
  readonly quota: Pick<Quota, 'selectors'>;
  readonly limits: readonly string[];
  readonly nowMs: number;
}

/** Usage of a quota's limits by the objects of one resource. An unused limit is zero, not absent. */
export class Tally {
  readonly #options: TallyOptions;
  readonly #evaluator: Evaluator;
  readonly #used: MutableAmounts;
  #endsAtMs: number | undefined;

  constructor(options: TallyOptions) {
    this.#options = options;
    this.#evaluator = evaluatorOf(options)!;
    this.#used = new Map(options.limits.map((limit) => [limit, zero]));
  }

  /** Only the number of objects matters: `addCount` can replace `add`. */
  get isPlainCount(): boolean {
    return this.#evaluator.isPlainCount === true;
  }

  add(object: KubeObject): void {
    const { quota, nowMs } = this.#options;
    if (!isInScope(quota, this.#evaluator, object)) return;
    this.#add(this.#evaluator.usage(object, nowMs));
    const endsAtMs = this.#evaluator.endsAtMs?.(object, nowMs);
    if (endsAtMs !== undefined) this.#endsAtMs = Math.min(endsAtMs, this.#endsAtMs ?? Infinity);
  }

  /** Adds objects of which only the number is known. They are in no scope. */
  addCount(number: number): void {
    if (this.#options.quota.selectors.length > 0) return;
    this.#add(new Map(this.#options.limits.map((limit) => [limit, count(number)])));
  }

  get used(): Amounts {
    return this.#used;
  }

  /** Time at which the usage decreases without a write. */
  get endsAtMs(): number | undefined {
    return this.#endsAtMs;
  }

  #add(usage: Amounts): void {
    addInto(this.#used, new Map([...usage].filter(([name]) => this.#used.has(name))));
  }
}
