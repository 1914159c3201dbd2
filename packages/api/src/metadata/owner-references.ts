/** Validation of owner references. */

import type { OwnerReference } from '../object.ts';
import { child, invalid } from '../status/field-error.ts';
import type { FieldError } from '../status/field-error.ts';

/** Each conflict shows the whole list: thousands of them must not fill the memory. */
const conflictsMax = 10;

export function ownerReferenceErrors(references: readonly OwnerReference[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  let conflicts = 0;
  for (const reference of references) {
    errors.push(...referenceErrors(reference, path));
    if (reference.controller !== true) continue;
    const name = `${reference.kind ?? ''}/${reference.name ?? ''}`;
    if (controller === '') controller = name;
    else if (conflicts++ < conflictsMax) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalid(path, references.map(asGoWrites), detail));
    }
  }
  return errors;
}

function referenceErrors(reference: OwnerReference, path: string): FieldError[] {
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
  const { group, version } = groupVersionOf(apiVersion);
  const errors: FieldError[] = [];
  const empty = (field: string): FieldError => invalid(child(path, field), '', 'must not be empty');
  if (version === '') errors.push(invalid(child(path, 'apiVersion'), apiVersion, 'version must not be empty'));
  if (kind === '') errors.push(empty('kind'));
  if (name === '') errors.push(empty('name'));
  if (uid === '') errors.push(empty('uid'));
  if (group === '' && version === 'v1' && kind === 'Event') {
    errors.push(invalid(path, asGoWrites(reference), '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

/** Both are empty for an invalid apiVersion. */
function groupVersionOf(apiVersion: string): { group: string; version: string } {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return { group: '', version: '' };
  return { group: parts.length === 2 ? parts[0]! : '', version: parts.at(-1)! };
}

/** Orders the keys as messages show them. */
const asGoWrites = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): object => ({
  apiVersion: apiVersion ?? '',
  kind: kind ?? '',
  name: name ?? '',
  uid: uid ?? '',
  controller,
  blockOwnerDeletion,
});
