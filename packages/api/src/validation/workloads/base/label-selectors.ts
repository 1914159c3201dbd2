/** Labels and the selectors on them. */

import type { JsonObject } from '../../../object.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { labelValueReasons, qualifiedNameReasons } from '../../formats.ts';
import { append } from '../../shared/checks.ts';
import { labelsErrors, labelSelectorErrors } from '../../shared/labels.ts';
import { isEmpty } from './checks.ts';
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

export const checkLabels = (errors: FieldError[], path: string, labels: TextMap | undefined): void =>
  append(errors, labelsErrors(path, labels ?? {}));

export interface SelectorOptions {
  /** Selectors stored before values were validated stay usable. */
  readonly allowInvalidValues?: boolean;
}

export const checkLabelSelector = (
  errors: FieldError[],
  path: string,
  selector: LabelSelector | null | undefined,
  { allowInvalidValues = false }: SelectorOptions = {},
): void =>
  append(
    errors,
    labelSelectorErrors(path, (selector ?? undefined) as JsonObject | undefined, { invalidValues: allowInvalidValues }),
  );

/** Reports whether there are values that are not label values; stored ones may keep them. */
export const hasInvalidValues = (selector: Pick<LabelSelector, 'matchExpressions'> | null | undefined): boolean =>
  (selector?.matchExpressions ?? []).some(({ values }) =>
    (values ?? []).some((value) => labelValueReasons(value).length > 0),
  );

export const isEmptySelector = (selector: LabelSelector): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 && isEmpty(selector.matchExpressions);

/**
 * Reports whether it selects these labels. Undefined if the selector is invalid. An absent selector selects nothing, an empty one
 * everything.
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
