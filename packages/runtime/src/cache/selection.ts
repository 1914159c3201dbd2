/** Selects the objects of a store that a list returns. */

import { parseFieldSelector, parseLabelSelector, LabelRequirement, LabelSelector } from '@hangar/api/selectors';
import type { FieldRequirement } from '@hangar/api/selectors';
import type { ApiObject, ListOptions } from '@hangar/client';
import type { CacheListOptions } from './contract.ts';
import { unknownIndex } from './indexes.ts';
import type { ObjectStore } from './object-store.ts';

/** Throws `UnknownIndex`, and `BadRequest` for an invalid selector. */
export function selected<T extends ApiObject>(store: ObjectStore<T>, options: ListOptions & CacheListOptions): T[] {
  const labels = labelSelectorOf(options.labelSelector);
  const terms = fieldTerms(options.fieldSelector);
  if (options.index) terms.unshift({ field: options.index.name, operator: '=', value: options.index.value });
  const found: T[] = [];
  for (const object of candidates(store, options.namespace, terms)) {
    if (options.namespace !== undefined && (object.metadata.namespace ?? '') !== options.namespace) continue;
    if (!labels.isEmpty && !labels.matches(object.metadata.labels)) continue;
    if (terms.every((term) => isMatch(store, object, term))) found.push(object);
  }
  return found;
}

/** Returns the smallest available set that contains all matches. */
function candidates<T extends ApiObject>(
  store: ObjectStore<T>,
  namespace: string | undefined,
  terms: readonly FieldRequirement[],
): Iterable<T> {
  const name = terms.find(({ field }) => field === 'metadata.name')?.value;
  const within = terms.find(({ field }) => field === 'metadata.namespace')?.value ?? namespace;
  if (name !== undefined && within !== undefined) {
    const object = store.get(within, name);
    return object === undefined ? [] : [object];
  }
  const indexed = terms.find(({ field }) => !isBuiltin(field));
  return indexed ? store.byIndex(indexed.field, indexed.value) : store.all(within);
}

const isBuiltin = (field: string): boolean => field === 'metadata.name' || field === 'metadata.namespace';

function isMatch<T extends ApiObject>(store: ObjectStore<T>, object: T, { field, value }: FieldRequirement): boolean {
  if (field === 'metadata.name') return object.metadata.name === value;
  if (field === 'metadata.namespace') return (object.metadata.namespace ?? '') === value;
  return store.hasValue(object, field, value);
}

function labelSelectorOf(selector: ListOptions['labelSelector']): LabelSelector {
  if (selector === undefined || selector === '') return everything;
  if (typeof selector === 'string') return parseLabelSelector(selector);
  return new LabelSelector(Object.entries(selector).map(([key, value]) => new LabelRequirement(key, '=', [value])));
}

const everything = new LabelSelector([]);

/** Throws for terms that no index supports. */
function fieldTerms(selector: ListOptions['fieldSelector']): FieldRequirement[] {
  if (selector === undefined || selector === '') return [];
  if (typeof selector === 'object') {
    return Object.entries(selector).map(([field, value]) => ({ field, operator: '=', value }));
  }
  const terms = [...parseFieldSelector(selector).requirements];
  const other = terms.find(({ operator }) => operator !== '=');
  if (other) throw unknownIndex(`${other.field}${other.operator}`);
  return terms;
}
