/**
 * Index of selectors and labels. A selector that requires `key=value` is found by that pair, and finds roles by it, independent of the
 * number of other selectors and roles; a selector without such a requirement is compared with all roles.
 */

import type { Steps } from '@hangar/core';
import { labelSelectorOf } from '../selectors/index.ts';
import type { Labels, LabelSelector, LabelSelectorObject } from '../selectors/index.ts';

export interface SelectorEntry<T> {
  readonly owner: T;
  /** The index in the owner's list. */
  readonly at: number;
  readonly selector: LabelSelector;
  /** Undefined: no pair is required. */
  readonly pair: string | undefined;
  /** Comparisons that a match may take. */
  readonly cost: number;
}

const pairOf = (key: string, value: string): string => `${key}=${value}`;

const noEntries: readonly never[] = [];

export class RoleSelectors<T> {
  readonly #byOwner = new Map<T, readonly SelectorEntry<T>[]>();
  readonly #byPair = new Map<string, Set<SelectorEntry<T>>>();
  /** Selectors without a pair. */
  readonly #general = new Set<SelectorEntry<T>>();
  readonly #labelled = new Map<string, Set<T>>();

  /** Replaces the labels of a role. */
  label(role: T, labels: Labels, before: Labels = {}): void {
    for (const [key, value] of Object.entries(before)) drop(this.#labelled, pairOf(key, value), role);
    for (const [key, value] of Object.entries(labels)) put(this.#labelled, pairOf(key, value), role);
  }

  /** Replaces the selectors of a role. `step` counts the work, and returns whether it should pause. */
  *select(owner: T, selectors: readonly LabelSelectorObject[], step: (cost: number) => boolean): Steps<void> {
    this.#unselect(owner);
    if (selectors.length === 0) return;
    const entries: SelectorEntry<T>[] = [];
    this.#byOwner.set(owner, entries);
    const known = new Set<string>();
    for (const [at, object] of selectors.entries()) {
      const selector = readSelector(object);
      const text = selector.toString();
      if (step(1 + (text.length >>> 3))) yield;
      // The first of equal selectors decides.
      if (known.has(text)) continue;
      known.add(text);
      const cost = selector.requirements.reduce((sum, { values }) => sum + 1 + (values.length >>> 3), 1);
      const entry = { owner, at, selector, pair: requiredPair(selector), cost };
      entries.push(entry);
      if (entry.pair === undefined) this.#general.add(entry);
      else put(this.#byPair, entry.pair, entry);
    }
  }

  remove(role: T, labels: Labels): void {
    this.label(role, {}, labels);
    this.#unselect(role);
  }

  #unselect(owner: T): void {
    for (const entry of this.#byOwner.get(owner) ?? noEntries) {
      if (entry.pair === undefined) this.#general.delete(entry);
      else drop(this.#byPair, entry.pair, entry);
    }
    this.#byOwner.delete(owner);
  }

  /** The selectors of a role in their order, each with the roles that it may match; undefined: all. */
  *of(owner: T): Generator<SelectorEntry<T> & { readonly candidates: Iterable<T> | undefined }> {
    for (const entry of this.#byOwner.get(owner) ?? noEntries) {
      const { pair } = entry;
      yield { ...entry, candidates: pair === undefined ? undefined : (this.#labelled.get(pair) ?? noEntries) };
    }
  }

  /** All selectors that may match these labels. */
  *candidatesFor(labels: Labels): Generator<SelectorEntry<T>> {
    for (const [key, value] of Object.entries(labels)) yield* this.#byPair.get(pairOf(key, value)) ?? noEntries;
    yield* this.#general;
  }
}

const nothing = labelSelectorOf(undefined);

/** A selector that another server stored, and that is invalid here, matches nothing. */
function readSelector(object: LabelSelectorObject): LabelSelector {
  try {
    return labelSelectorOf(object);
  } catch {
    return nothing;
  }
}

function requiredPair({ requirements }: LabelSelector): string | undefined {
  const required = requirements.find(
    ({ operator, values }) => operator === '=' || operator === '==' || (operator === 'in' && values.length === 1),
  );
  return required && pairOf(required.key, required.values[0]!);
}

function put<T>(index: Map<string, Set<T>>, key: string, value: T): void {
  const known = index.get(key);
  if (known) known.add(value);
  else index.set(key, new Set([value]));
}

function drop<T>(index: Map<string, Set<T>>, key: string, value: T): void {
  const known = index.get(key);
  known?.delete(value);
  if (known?.size === 0) index.delete(key);
}
