/** Labels and label selectors as cells. */

import { labelValueReasons, qualifiedNameReasons } from '../validation/formats.ts';
import { sortKeys } from '../values/key-order.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export const none = '<none>';

export function labelsText(labels: Labels | undefined): string {
  return sortKeys(Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)).join(',') || none;
}

/** Returns `<error>` for an invalid selector. */
export const selectorCell = (selector: LabelSelector | undefined): string => {
  const text = selectorText(selector);
  return text === undefined ? '<error>' : text || none;
};

/** Formats a label selector as in a query; undefined if it is not valid. */
export function selectorText(selector: LabelSelector | undefined): string | undefined {
  const requirements: { key: string; text: string }[] = [];
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) {
    if (!isValid(key, [value])) return undefined;
    requirements.push({ key, text: `${key}=${value}` });
  }
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    const text = isValid(key, values) ? expressionText(key, operator, values) : undefined;
    if (text === undefined) return undefined;
    requirements.push({ key, text });
  }
  // Keys are ASCII here; the sort is stable.
  requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return requirements.map(({ text }) => text).join(',');
}

const isValid = (key: string, values: readonly string[]): boolean =>
  qualifiedNameReasons(key).length === 0 && values.every((value) => labelValueReasons(value).length === 0);

function expressionText(key: string, operator: string, values: readonly string[]): string | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) return undefined;
      return `${key} ${operator.toLowerCase()} (${values.toSorted().join(',')})`;
    case 'Exists':
      return values.length === 0 ? key : undefined;
    case 'DoesNotExist':
      return values.length === 0 ? `!${key}` : undefined;
    default:
      return undefined;
  }
}

/** Formats a selector like Go's dump of the struct, which the bindings of admission policies show. */
export function selectorDump({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = sortKeys(Object.keys(matchLabels)).map((key) => `${key}: ${matchLabels[key]},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const fields = [
    `MatchLabels:map[string]string{${labels.join('')}},`,
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},`,
  ];
  return `&LabelSelector{${fields.join('')}}`;
}
