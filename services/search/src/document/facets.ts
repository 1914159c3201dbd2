/**
 * Terms for exact values: the kind, the namespace, the control plane, the name and the labels of an object. Each is one term of the index,
 * a digest, so that a value with any characters is one word, and a filter is as fast as a word.
 */

import { hash } from 'node:crypto';

export const facetFields = ['kind', 'group', 'namespace', 'cluster', 'name', 'label'] as const;
export type FacetField = (typeof facetFields)[number];

const known = new Map<string, string>();
/** Tenants choose the values: above this number, the cache is cleared. */
const knownMax = 50_000;
const digits = 16;

/** Returns the term for a value of a field. Kinds are compared in lower case. */
export function facet(field: FacetField, value: string): string {
  const text = `${field}\0${field === 'kind' ? value.toLowerCase() : value}`;
  let term = known.get(text);
  if (term === undefined) {
    if (known.size >= knownMax) known.clear();
    known.set(text, (term = `f${hash('sha256', text, 'hex').slice(0, digits)}`));
  }
  return term;
}
