/**
 * Parses the text of a query. All parts must match:
 *
 *     web                    a word, in the name, a label, an annotation or a field
 *     "rolling update"       words next to each other
 *     front*                 words that start with these letters, at least 3
 *     -staging               objects without this word
 *     kind:Deployment        also namespace:, name:, cluster: (or project:), group:
 *     label:app  label:app=web
 *
 * The text never reaches the query language of the database: it is divided into terms of letters and digits, and everything else
 * separates terms.
 */

import { badRequest } from '@hangar/api';
import { prefixLengths, termsOf } from '../document/terms.ts';
import type { FacetField } from '../document/facets.ts';

export interface Filter {
  readonly field: FacetField;
  readonly value: string;
  readonly isNegated: boolean;
}

/** Adjacent terms; the last one can be a prefix. */
export interface Phrase {
  readonly terms: readonly string[];
  readonly isPrefix: boolean;
  readonly isNegated: boolean;
}

export interface Query {
  readonly phrases: readonly Phrase[];
  readonly filters: readonly Filter[];
}

export const queryLengthMax = 1_000;
const partsMax = 24;
const termsMax = 48;
const [prefixLengthMin] = prefixLengths;

const fields: Readonly<Record<string, FacetField>> = {
  kind: 'kind',
  group: 'group',
  namespace: 'namespace',
  cluster: 'cluster',
  project: 'cluster',
  name: 'name',
  label: 'label',
};

/** A part: `-`, then `field:`, then a quoted or a plain text. */
const part = /(-?)(?:([a-z]+):)?(?:"([^"]*)"|([^\s"]+)|(?<=:))/gy;
const space = /\s*/y;

/** Throws 400 with a message that names the part. */
export function parseQuery(text: string): Query {
  if (text.length > queryLengthMax) throw badRequest(`spec.query must have at most ${queryLengthMax} characters`);
  const phrases: Phrase[] = [];
  const filters: Filter[] = [];
  let terms = 0;
  for (const one of partsOf(text)) {
    const field = fields[one.field];
    if (field) filters.push({ field, value: filterValue(one), isNegated: one.isNegated });
    else {
      const phrase = phraseOf(one);
      if (!phrase) continue;
      terms += phrase.terms.length;
      phrases.push(phrase);
    }
    if (phrases.length + filters.length > partsMax) throw badRequest(`spec.query must have at most ${partsMax} parts`);
    if (terms > termsMax) throw badRequest(`spec.query must have at most ${termsMax} words`);
  }
  if (![...phrases, ...filters].some(({ isNegated }) => !isNegated)) {
    throw badRequest('spec.query must contain at least one word or filter that is not excluded');
  }
  return { phrases, filters };
}

interface Part {
  readonly isNegated: boolean;
  /** '' if there is none. */
  readonly field: string;
  readonly text: string;
  readonly isQuoted: boolean;
}

function* partsOf(text: string): Generator<Part> {
  let at = 0;
  for (;;) {
    space.lastIndex = at;
    space.exec(text);
    part.lastIndex = space.lastIndex;
    const found = part.exec(text);
    // An empty match would repeat for ever.
    if (!found || found[0] === '') {
      if (space.lastIndex < text.length) throw badRequest('spec.query has a quotation mark that is not closed');
      return;
    }
    at = part.lastIndex;
    const [, minus, field = '', quoted, plain = ''] = found;
    const isField = Object.hasOwn(fields, field);
    const prefix = isField || field === '' ? '' : `${field}:`;
    yield {
      isNegated: minus === '-',
      field: isField ? field : '',
      text: prefix + (quoted ?? plain),
      isQuoted: quoted !== undefined,
    };
  }
}

function filterValue({ field, text }: Part): string {
  if (text === '') throw badRequest(`spec.query: the filter ${field}: has no value`);
  if (text.includes('*')) throw badRequest(`spec.query: the filter ${field}: does not support "*"`);
  return text;
}

/** Returns undefined for a part without letters and digits. */
function phraseOf({ text, isQuoted, isNegated }: Part): Phrase | undefined {
  const terms = termsOf(text, termsMax + 1);
  const last = terms.at(-1);
  if (last === undefined) return undefined;
  const isPrefix = !isQuoted && text.endsWith('*');
  if (isPrefix && last.length < prefixLengthMin) {
    throw badRequest(`spec.query: "${last}*" needs at least ${prefixLengthMin} characters before the "*"`);
  }
  if (isPrefix && isNegated) throw badRequest(`spec.query: "-${last}*": only whole words can be excluded`);
  return { terms, isPrefix, isNegated };
}
