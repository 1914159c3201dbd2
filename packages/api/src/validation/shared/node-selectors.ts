/** Selectors of nodes, by their labels and by their name. */

import type { JsonObject } from '../../object.ts';
import { child, forbidden, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { dnsSubdomainReasons, labelValueReasons } from '../formats.ts';
import { invalidFor, qualifiedNameErrors } from './checks.ts';
import { structsOf, textOf, textsOf } from './read.ts';

export interface NodeSelectorTolerance {
  /** Stored selectors may have values that are not label values. */
  readonly invalidValues?: boolean;
}

export function nodeSelectorErrors(
  path: string,
  selector: JsonObject,
  tolerance: NodeSelectorTolerance = {},
): FieldError[] {
  const terms = structsOf(selector, 'nodeSelectorTerms');
  const termsPath = child(path, 'nodeSelectorTerms');
  if (terms.length === 0) return [required(termsPath, 'must have at least one node selector term')];
  return terms.flatMap((term, at) => termErrors(index(termsPath, at), term, tolerance));
}

const termErrors = (path: string, term: JsonObject, tolerance: NodeSelectorTolerance): FieldError[] => [
  ...structsOf(term, 'matchExpressions').flatMap((one, at) =>
    labelErrors(index(child(path, 'matchExpressions'), at), one, tolerance),
  ),
  ...structsOf(term, 'matchFields').flatMap((one, at) => fieldErrors(index(child(path, 'matchFields'), at), one)),
];

function labelErrors(path: string, requirement: JsonObject, { invalidValues }: NodeSelectorTolerance): FieldError[] {
  const values = textsOf(requirement, 'values');
  const errors = operatorErrors(path, textOf(requirement, 'operator'), values.length);
  errors.push(...qualifiedNameErrors(child(path, 'key'), textOf(requirement, 'key')));
  if (invalidValues) return errors;
  values.forEach((value, at) =>
    errors.push(...invalidFor(index(child(path, 'values'), at), value, labelValueReasons(value))),
  );
  return errors;
}

function operatorErrors(path: string, operator: string, values: number): FieldError[] {
  const valuesPath = child(path, 'values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values > 0 ? [] : [required(valuesPath, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values === 0) return [];
      return [forbidden(valuesPath, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      if (values === 1) return [];
      return [required(valuesPath, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(child(path, 'operator'), operator, 'not a valid selector operator')];
  }
}

function fieldErrors(path: string, requirement: JsonObject): FieldError[] {
  const [field, operator] = [textOf(requirement, 'key'), textOf(requirement, 'operator')];
  const values = textsOf(requirement, 'values');
  const valuesPath = child(path, 'values');
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const rule = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(valuesPath, rule));
  }
  if (field !== 'metadata.name') {
    return [...errors, invalid(child(path, 'key'), field, 'not a valid field selector key')];
  }
  const nameErrors = values.flatMap((value, at) =>
    invalidFor(index(valuesPath, at), value, dnsSubdomainReasons(value)),
  );
  return [...errors, ...nameErrors];
}

export const hasInvalidNodeValues = (selector: JsonObject | undefined): boolean =>
  structsOf(selector, 'nodeSelectorTerms').some((term) =>
    structsOf(term, 'matchExpressions').some((one) =>
      textsOf(one, 'values').some((value) => labelValueReasons(value).length > 0),
    ),
  );
