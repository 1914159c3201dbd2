/** ConfigMap: keys are file names, in one of two maps, 1 MiB in total; optionally immutable. */

import type { KubeObject } from '../../object.ts';
import { child, forbidden, invalid, key, tooLong } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { byteLength, configKeyReasons } from '../formats.ts';
import type { KindValidation } from '../contract.ts';
import { invalidFor } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { flagOf, mapOf } from '../shared/read.ts';
import { base64Length } from './base64-length.ts';

export const dataBytesMax = 1024 * 1024;

function create(object: KubeObject): FieldError[] {
  const data = mapOf(object, 'data');
  const binary = mapOf(object, 'binaryData');
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const name of Object.keys(data)) {
    errors.push(...invalidFor(key('data', name), name, configKeyReasons(name)));
    if (Object.hasOwn(binary, name)) {
      errors.push(invalid(key('data', name), name, 'duplicate of key present in binaryData'));
    }
    bytes += byteLength(data[name]!);
  }
  for (const name of Object.keys(binary)) {
    errors.push(...invalidFor(key('binaryData', name), name, configKeyReasons(name)));
    bytes += base64Length(binary[name]!);
  }
  // Kubernetes' text for an empty path.
  if (bytes > dataBytesMax) errors.push(tooLong('[]', dataBytesMax));
  return errors;
}

/** Checks the changes that `immutable: true` forbids, for ConfigMaps and Secrets. */
export function immutabilityErrors(object: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (!flagOf(old, 'immutable')) return [];
  const changed = fields.filter((field) => !equalValues(object[field], old[field]));
  return [...(flagOf(object, 'immutable') ? [] : ['immutable']), ...changed].map((field) =>
    forbidden(child('', field), 'field is immutable when `immutable` is set'),
  );
}

export const configMap: KindValidation = {
  create,
  update: (object, old) => [...immutabilityErrors(object, old, ['data', 'binaryData']), ...create(object)],
};
