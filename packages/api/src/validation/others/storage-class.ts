/** StorageClass and VolumeAttributesClass: a driver and its parameters, which are immutable. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, duplicate, forbidden, index, invalid, required, tooLong } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { byteLength } from '../formats.ts';
import { immutableErrors, oneOfErrors, qualifiedNameErrors, repeatedIn } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { isSet, mapOf, optionalText, structsOf, textOf, textsOf } from '../shared/read.ts';
import { deprecatedNodeLabel } from './deprecated-node-labels.ts';

const parametersMax = 512;
const parameterBytesMax = 256 * 1024;
const slotsMax = 100;

function driverErrors(path: string, driver: string): FieldError[] {
  return driver === '' ? [required(path, '')] : qualifiedNameErrors(path, driver.toLowerCase());
}

function parametersErrors(object: KubeObject, mayBeEmpty: boolean): FieldError[] {
  const path = 'parameters';
  const parameters = Object.entries(mapOf(object, path));
  if (parameters.length > parametersMax) return [tooLong(path, parametersMax)];
  const errors = parameters.some(([name]) => name === '') ? [invalid(path, '', 'field can not be empty.')] : [];
  const bytes = parameters.reduce((sum, [name, value]) => sum + byteLength(name) + byteLength(value), 0);
  if (bytes > parameterBytesMax) errors.push(tooLong(path, parameterBytesMax));
  if (parameters.length === 0 && !mayBeEmpty) {
    errors.push(required(path, 'must contain at least one key/value pair'));
  }
  return errors;
}

function storageClassErrors(object: KubeObject): FieldError[] {
  const policy = textOf(object, 'reclaimPolicy');
  const mode = textOf(object, 'volumeBindingMode');
  return [
    ...driverErrors('provisioner', textOf(object, 'provisioner')),
    ...parametersErrors(object, true),
    ...(policy === '' ? [] : oneOfErrors('reclaimPolicy', policy, ['Delete', 'Retain'])),
    ...(isSet(object, 'volumeBindingMode')
      ? oneOfErrors('volumeBindingMode', mode, ['Immediate', 'WaitForFirstConsumer'])
      : [required('volumeBindingMode', '')]),
    ...topologyErrors(structsOf(object, 'allowedTopologies')),
  ];
}

/** Each term must be unique, regardless of the order of its expressions and values. */
function topologyErrors(terms: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>();
  return terms.flatMap((term, at) => {
    const path = child(index('allowedTopologies', at), 'matchLabelExpressions');
    const expressions = new Map<string, string[]>();
    const errors = structsOf(term, 'matchLabelExpressions').flatMap((expression, i) => {
      const found = expressionErrors(index(path, i), expression);
      const name = textOf(expression, 'key');
      if (expressions.has(name)) found.push(duplicate(child(index(path, i), 'key'), name));
      expressions.set(name, [...new Set(textsOf(expression, 'values'))].sort());
      return found;
    });
    const identity = JSON.stringify([...expressions].sort(([one], [other]) => (one < other ? -1 : 1)));
    // Kubernetes compares with slots that are still empty, as many as there are terms. The number of errors is limited.
    const slots = identity === '[]' ? Math.min(terms.length, at < slotsMax ? slotsMax : 1) : 0;
    const repeats = slots + Number(seen.has(identity));
    seen.add(identity);
    return [...errors, ...Array.from({ length: repeats }, () => duplicate(path, ''))];
  });
}

function expressionErrors(path: string, expression: JsonObject): FieldError[] {
  const values = textsOf(expression, 'values');
  const valuesPath = child(path, 'values');
  return [
    ...(values.length === 0 ? [required(valuesPath, '')] : []),
    ...[...repeatedIn(values)].map((at) => duplicate(index(valuesPath, at), values[at])),
    ...qualifiedNameErrors(child(path, 'key'), textOf(expression, 'key')),
  ];
}

const fixed = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'];

export const storageClass: KindValidation = {
  create: storageClassErrors,
  update: (object, old) => [
    ...storageClassErrors(object),
    ...fixed.flatMap((field) => immutableErrors(field, object[field], old[field])),
  ],
  warnings: (object) =>
    structsOf(object, 'allowedTopologies').flatMap((term, at) =>
      structsOf(term, 'matchLabelExpressions').flatMap((expression, i) => {
        const advice = deprecatedNodeLabel(textOf(expression, 'key'));
        if (advice === undefined) return [];
        return [`allowedTopologies[${at}].matchLabelExpressions[${i}].key: ${advice}`];
      }),
    ),
};

const attributesErrors = (object: KubeObject): FieldError[] => [
  ...driverErrors('driverName', textOf(object, 'driverName')),
  ...parametersErrors(object, false),
];

export const volumeAttributesClass: KindValidation = {
  create: attributesErrors,
  update: (object, old) => [
    ...(optionalText(object, 'driverName') === optionalText(old, 'driverName')
      ? []
      : [forbidden('driverName', 'updates to driverName are forbidden.')]),
    ...(equalValues(object['parameters'], old['parameters'])
      ? []
      : [forbidden('parameters', 'updates to parameters are forbidden.')]),
    ...attributesErrors(object),
  ],
};
