/** Labels and the selectors on them. */

import { child, forbidden, index, invalid, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { labelValueReasons, qualifiedNameReasons } from '../../formats.ts';
import { checkQualifiedName, checkReasons, isEmpty } from './checks.ts';
import type { List, TextMap } from './checks.ts';

export interface LabelSelectorRequirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: List<string>;
}

export interface LabelSelector {
  readonly matchLabels?: TextMap;
  readonly matchExpressions?: List<LabelSelectorRequirement>;
}

/** Keys and values have one path: that of the map. */
export function checkLabels(errors: FieldError[], path: string, labels: TextMap | undefined): void {
  for (const name of sortKeys(Object.keys(labels ?? {}))) {
    checkQualifiedName(errors, path, name);
    checkReasons(errors, path, labels![name], labelValueReasons(labels![name]!));
  }
}

export interface SelectorOptions {
  /** What was stored before values were checked stays usable. */
  readonly allowInvalidValues?: boolean;
}

export function checkLabelSelector(
  errors: FieldError[],
  path: string,
  selector: LabelSelector | null | undefined,
  options: SelectorOptions = {},
): void {
  if (!selector) return;
  checkLabels(errors, child(path, 'matchLabels'), selector.matchLabels);
  for (const [i, requirement] of (selector.matchExpressions ?? []).entries()) {
    checkRequirement(errors, index(child(path, 'matchExpressions'), i), requirement, options);
  }
}

function checkRequirement(
  errors: FieldError[],
  path: string,
  { key = '', operator = '', values }: LabelSelectorRequirement,
  { allowInvalidValues = false }: SelectorOptions,
): void {
  const valuesPath = child(path, 'values');
  if (operator === 'In' || operator === 'NotIn') {
    if (isEmpty(values)) errors.push(required(valuesPath, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (!isEmpty(values)) {
      errors.push(forbidden(valuesPath, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else {
    errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'));
  }
  checkQualifiedName(errors, child(path, 'key'), key);
  if (allowInvalidValues) return;
  for (const [i, value] of (values ?? []).entries()) {
    checkReasons(errors, index(valuesPath, i), value, labelValueReasons(value));
  }
}

/** Values that are no label values; what was stored with some may keep them. */
export const hasInvalidValues = (selector: Pick<LabelSelector, 'matchExpressions'> | null | undefined): boolean =>
  (selector?.matchExpressions ?? []).some(({ values }) =>
    (values ?? []).some((value) => labelValueReasons(value).length > 0),
  );

export const isEmptySelector = (selector: LabelSelector): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 && isEmpty(selector.matchExpressions);

/**
 * Does it select these labels? Undefined when the selector cannot be understood. Without a selector nothing is
 * selected, an empty one selects everything.
 */
export function selects(selector: LabelSelector | null | undefined, labels: TextMap | undefined): boolean | undefined {
  if (!selector) return false;
  if (!isUnderstood(selector)) return undefined;
  const has = (key: string): boolean => Object.hasOwn(labels ?? {}, key);
  const equals = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => has(key) && labels![key] === value);
  return equals && (selector.matchExpressions ?? []).every((requirement) => meets(requirement, labels, has));
}

function meets(
  { key = '', operator, values }: LabelSelectorRequirement,
  labels: TextMap | undefined,
  has: (key: string) => boolean,
): boolean {
  if (operator === 'Exists') return has(key);
  if (operator === 'DoesNotExist') return !has(key);
  const isListed = has(key) && (values ?? []).includes(labels![key]!);
  return operator === 'In' ? isListed : !isListed;
}

function isUnderstood({ matchLabels, matchExpressions }: LabelSelector): boolean {
  const isValid = (key: string, values: List<string> | undefined): boolean =>
    qualifiedNameReasons(key).length === 0 && (values ?? []).every((value) => labelValueReasons(value).length === 0);
  return (
    Object.entries(matchLabels ?? {}).every(([key, value]) => isValid(key, [value])) &&
    (matchExpressions ?? []).every(({ key = '', operator, values }) => {
      const takesValues = operator === 'In' || operator === 'NotIn';
      if (!takesValues && operator !== 'Exists' && operator !== 'DoesNotExist') return false;
      return takesValues !== isEmpty(values) && isValid(key, values);
    })
  );
}
