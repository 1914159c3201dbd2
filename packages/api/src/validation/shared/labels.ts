/** Labels, and selectors of labels. */

import type { JsonObject } from '../../object.ts';
import { child, forbidden, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { sortKeys } from '../../values/key-order.ts';
import { labelValueReasons } from '../formats.ts';
import { invalidFor, qualifiedNameErrors } from './checks.ts';
import { mapOf, structsOf, textOf, textsOf } from './read.ts';

/** Errors have the path of the map, not of the key, as in Kubernetes. */
export function labelsErrors(path: string, labels: Readonly<Record<string, string>>): FieldError[] {
  return sortKeys(Object.keys(labels)).flatMap((name) => [
    ...qualifiedNameErrors(path, name),
    ...invalidFor(path, labels[name]!, labelValueReasons(labels[name]!)),
  ]);
}

export interface SelectorTolerance {
  /** Stored selectors may have values that are not label values. */
  readonly invalidValues?: boolean;
  readonly unknownOperators?: boolean;
}

/** An absent selector is valid. */
export function labelSelectorErrors(
  path: string,
  selector: JsonObject | undefined,
  tolerance: SelectorTolerance = {},
): FieldError[] {
  if (!selector) return [];
  return [
    ...labelsErrors(child(path, 'matchLabels'), mapOf(selector, 'matchLabels')),
    ...structsOf(selector, 'matchExpressions').flatMap((one, at) =>
      labelRequirementErrors(index(child(path, 'matchExpressions'), at), one, tolerance),
    ),
  ];
}

export function labelRequirementErrors(
  path: string,
  requirement: JsonObject,
  tolerance: SelectorTolerance = {},
): FieldError[] {
  const values = textsOf(requirement, 'values');
  const errors = operatorErrors(path, textOf(requirement, 'operator'), values, tolerance);
  errors.push(...qualifiedNameErrors(child(path, 'key'), textOf(requirement, 'key')));
  if (!tolerance.invalidValues) {
    values.forEach((value, at) =>
      errors.push(...invalidFor(index(child(path, 'values'), at), value, labelValueReasons(value))),
    );
  }
  return errors;
}

/** The part that selectors of labels and of fields share. */
export function operatorErrors(
  path: string,
  operator: string,
  values: readonly string[],
  tolerance: SelectorTolerance = {},
): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return [];
      return [required(child(path, 'values'), "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [forbidden(child(path, 'values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      if (tolerance.unknownOperators) return [];
      return [invalid(child(path, 'operator'), operator, 'not a valid selector operator')];
  }
}
