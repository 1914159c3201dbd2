/**
 * Divides text into terms. Documents and queries use the same function, so a word of a query matches exactly the same word of a document:
 *
 *     termsOf('Café web-Frontend_2')   // ['cafe', 'web', 'frontend', '2']
 */

/** Longer terms are cut. */
export const termLengthMax = 64;

/** Letters and digits of any language; accents are removed before. */
const word = /[\p{L}\p{N}]+/gu;
const marks = /\p{M}+/gu;
const isForeign = /[^ -~\s]/;

/** Returns the text in lower case without accents. */
export const folded = (text: string): string =>
  isForeign.test(text) ? text.normalize('NFKD').replace(marks, '').toLowerCase() : text.toLowerCase();

/** Returns at most `max` terms of a text, in order. */
export function termsOf(text: string, max = Infinity): string[] {
  const terms: string[] = [];
  for (const [term] of folded(text).matchAll(word)) {
    if (terms.length >= max) break;
    terms.push(term.length > termLengthMax ? term.slice(0, termLengthMax) : term);
  }
  return terms;
}

/** Lengths of the beginnings of words that the index contains. The first one is the minimum length of `prefix*`. */
export const prefixLengths = [3, 6] as const;

/** Returns the longest indexed beginning of a word. */
export const indexedPrefix = (word: string): string =>
  word.slice(0, prefixLengths.findLast((length) => length <= word.length) ?? prefixLengths[0]);
