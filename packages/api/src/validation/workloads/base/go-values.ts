/** Values in messages that Go writes as JSON in a special order: maps by key, structs by declaration. */

import { Verbatim, quote } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { isSet } from './checks.ts';
import type { LabelSelector } from './label-selectors.ts';

/** JSON in which the characters that Go escapes are escaped. */
export const goJson = (value: unknown): string =>
  (JSON.stringify(value) ?? 'null').replace(
    /[<>&\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Formats a map sorted by key; nil is null. Numeric keys keep their position, unlike in JavaScript objects. */
export function goMap(map: Readonly<Record<string, unknown>> | null | undefined): Verbatim {
  if (!isSet(map)) return new Verbatim('null');
  const members = sortKeys(Object.keys(map)).map((key) => `${goJson(key)}:${goJson(map[key])}`);
  return new Verbatim(`{${members.join(',')}}`);
}

export function goLabelSelector(selector: LabelSelector | null | undefined): Verbatim {
  if (!isSet(selector)) return new Verbatim('null');
  const members: string[] = [];
  const { matchLabels, matchExpressions } = selector;
  if (matchLabels && Object.keys(matchLabels).length > 0) members.push(`"matchLabels":${goMap(matchLabels).text}`);
  if (matchExpressions && matchExpressions.length > 0) {
    const expressions = matchExpressions.map(({ key = '', operator = '', values }) =>
      goJson({ key, operator, ...(values && values.length > 0 ? { values } : {}) }),
    );
    members.push(`"matchExpressions":[${expressions.join(',')}]`);
  }
  return new Verbatim(`{${members.join(',')}}`);
}

/** A list of texts as Go's `%q` shows it. */
export const quotedList = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`;
