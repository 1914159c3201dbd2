/** Conditions in the status of objects, of the common form. */

import type { JsonObject } from '../../object.ts';
import { child, duplicate, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { regexReason } from '../formats.ts';
import { oneOfErrors, qualifiedNameErrors, tooLongErrors } from './checks.ts';
import { isSet, numberOf, textOf } from './read.ts';

const reasonForm = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const isReason = new RegExp(`^${reasonForm}$`);
const reasonText =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";

export function conditionsErrors(path: string, conditions: readonly JsonObject[]): FieldError[] {
  const types = new Set<string>();
  return conditions.flatMap((condition, at) => {
    const type = textOf(condition, 'type');
    const repeated = types.has(type) ? [duplicate(child(index(path, at), 'type'), type)] : [];
    types.add(type);
    return [...repeated, ...conditionErrors(index(path, at), condition)];
  });
}

function conditionErrors(path: string, condition: JsonObject): FieldError[] {
  const generation = numberOf(condition, 'observedGeneration');
  return [
    ...qualifiedNameErrors(child(path, 'type'), textOf(condition, 'type')),
    ...oneOfErrors(child(path, 'status'), textOf(condition, 'status'), ['False', 'True', 'Unknown']),
    ...(generation < 0
      ? [invalid(child(path, 'observedGeneration'), generation, 'must be greater than or equal to zero')]
      : []),
    ...(isSet(condition, 'lastTransitionTime') ? [] : [required(child(path, 'lastTransitionTime'), '')]),
    ...reasonErrors(child(path, 'reason'), textOf(condition, 'reason')),
    ...tooLongErrors(child(path, 'message'), textOf(condition, 'message'), 32 * 1024),
  ];
}

function reasonErrors(path: string, reason: string): FieldError[] {
  if (reason === '') return [required(path, '')];
  const examples = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'];
  return [
    ...(isReason.test(reason) ? [] : [invalid(path, reason, regexReason(reasonText, reasonForm, ...examples))]),
    ...tooLongErrors(path, reason, 1024),
  ];
}
