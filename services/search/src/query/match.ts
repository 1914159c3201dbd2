/**
 * Translates a query to expressions of FTS5, one for each tier of results: objects with all words in the name first, then those that need
 * a label, then those that need another field. Within a tier, the newest object comes first. Each tier excludes the earlier ones, so that
 * results are a stream without a sort and without a total.
 */

import type { FacetField } from '../document/facets.ts';
import { facet } from '../document/facets.ts';
import { edgeTerm, places, wordTerm } from '../document/index-terms.ts';
import type { Place } from '../document/index-terms.ts';
import { indexedPrefix, prefixLengths } from '../document/terms.ts';
import type { Phrase, Query } from './parse.ts';

/** Score of the results of each tier. */
export const tierScores = [1, 0.5, 0.25] as const;

export interface Matching {
  /** One expression for each tier. */
  readonly tiers: readonly string[];
  /** Beginnings of words that the index has only in part: a row must have a word with each of them. */
  readonly prefixes: readonly string[];
  /** Words for snippets. */
  readonly words: readonly string[];
}

/** `clusters` limits the results to these control planes; undefined: all. */
export function matchingOf({ phrases, filters }: Query, clusters: readonly string[] | undefined): Matching {
  const wanted = phrases.filter(({ isNegated }) => !isNegated);
  const facets = [
    ...filters.filter(({ isNegated }) => !isNegated).map(({ field, value }) => facetMatch(field, value)),
    ...(clusters ? [anyOf(clusters.map((cluster) => facetMatch('cluster', cluster)))] : []),
  ];
  const excluded = [
    ...filters.filter(({ isNegated }) => isNegated).map(({ field, value }) => facetMatch(field, value)),
    ...phrases.filter(({ isNegated }) => isNegated).map((phrase) => phraseMatch(phrase, places)),
  ];
  const inPlaces = (tier: number): string[] => wanted.map((phrase) => phraseMatch(phrase, places.slice(0, tier + 1)));
  const expression = (tier: number): string => {
    const earlier = tier === 0 ? [] : [allOf(inPlaces(tier - 1))];
    return [...excluded, ...earlier].reduce((all, one) => `(${all} NOT ${one})`, allOf([...inPlaces(tier), ...facets]));
  };
  return {
    tiers: wanted.length === 0 ? [expression(0)] : places.map((_, tier) => expression(tier)),
    prefixes: wanted.flatMap(({ terms, isPrefix }) => (isPrefix && isPartial(terms.at(-1)!) ? [terms.at(-1)!] : [])),
    words: wanted.flatMap(({ terms }) => terms),
  };
}

const isPartial = (prefix: string): boolean => !(prefixLengths as readonly number[]).includes(prefix.length);

const allOf = (all: readonly string[]): string => (all.length === 1 ? all[0]! : `(${all.join(' AND ')})`);
const anyOf = (all: readonly string[]): string => (all.length === 1 ? all[0]! : `(${all.join(' OR ')})`);

/** Terms consist of letters and digits, so that they need no escapes. */
const quoted = (...terms: readonly string[]): string => `"${terms.join(' ')}"`;

const facetMatch = (field: FacetField, value: string): string => quoted(facet(field, value));

/** Matches adjacent words, all in the same place; a beginning of a word can be anywhere in these places. */
function phraseMatch({ terms, isPrefix }: Phrase, inPlaces: readonly Place[]): string {
  const whole = isPrefix ? terms.slice(0, -1) : terms;
  const parts: string[] = [];
  if (whole.length > 0) {
    parts.push(anyOf(inPlaces.map((place) => quoted(...whole.map((word) => wordTerm(place, word))))));
  }
  if (isPrefix) {
    const prefix = indexedPrefix(terms.at(-1)!);
    parts.push(anyOf(inPlaces.map((place) => quoted(edgeTerm(place, prefix)))));
  }
  return allOf(parts);
}
