/**
 * The terms of the index. The first letter of a term is the place of the word, so that a search in names does not read the longer lists of
 * words in other fields:
 *
 *     nweb lapp lweb bfast     words of the name, of labels, and of annotations and fields
 *     en3web eb6listen         beginnings of words, with their place and length
 *     f62d1fa3d7613ed19        exact values, see facets.ts
 */

import type { Document } from './document.ts';
import { facet } from './facets.ts';
import { prefixLengths, termsOf } from './terms.ts';

/** Places of words, the most important one first. */
export const places = ['n', 'l', 'b'] as const;
export type Place = (typeof places)[number];

/** The term of words that start with `prefix`, which has one of `prefixLengths`. */
export const edgeTerm = (place: Place, prefix: string): string => `e${place}${prefix.length}${prefix}`;

export const wordTerm = (place: Place, word: string): string => place + word;

/** Words of each place, and beginnings of words of one document. */
const wordsMax: Readonly<Record<Place, number>> = { n: 128, l: 512, b: 1_000 };
const edgesMax = 1_000;

/** Returns all terms of a document as one text, bounded in number. */
export function indexTerms(document: Document): string {
  const texts: Readonly<Record<Place, string>> = { n: document.name, l: document.labels, b: document.body };
  const terms: string[] = [];
  const edges = new Set<string>();
  for (const place of places) {
    for (const word of termsOf(texts[place], wordsMax[place])) {
      terms.push(wordTerm(place, word));
      for (const length of prefixLengths) {
        if (word.length >= length && edges.size < edgesMax) edges.add(edgeTerm(place, word.slice(0, length)));
      }
    }
  }
  return [...terms, ...edges, ...facetsOf(document)].join(' ');
}

function facetsOf({ kind, resource, group, namespace, cluster, name, labels }: Document): Set<string> {
  const all = new Set([
    facet('kind', kind),
    facet('kind', resource),
    facet('group', group),
    facet('namespace', namespace),
    facet('cluster', cluster),
    facet('name', name),
  ]);
  for (const line of labels === '' ? [] : labels.split('\n')) {
    all.add(facet('label', line.split('=', 1)[0]!)).add(facet('label', line));
  }
  return all;
}
