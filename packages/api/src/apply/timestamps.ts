/** Writes that change only times of managers must change nothing. */

import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../object.ts';
import { equalValues } from './values.ts';

/**
 * Gives `object` the times of `live` if it differs in nothing else. Called when the object has the form in which it will be stored; both in
 * the same version and form. Returns true if the two are equal now.
 */
export function keepManagedFieldsTimes(object: KubeObject, live: KubeObject): boolean {
  const entries = object.metadata.managedFields ?? [];
  const old = live.metadata.managedFields ?? [];
  if (entries.length !== old.length || !entries.every((entry, i) => isSameButTime(entry, old[i]!))) return false;
  if (!isSameBut(object, live, 'metadata') || !isSameBut(object.metadata, live.metadata, 'managedFields')) return false;
  if (entries.length > 0) object.metadata.managedFields = old;
  return true;
}

const isSameButTime = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean =>
  a === b ||
  (a.manager === b.manager &&
    a.operation === b.operation &&
    a.apiVersion === b.apiVersion &&
    a.subresource === b.subresource &&
    equalValues(a.fieldsV1, b.fieldsV1));

function isSameBut(a: object, b: object, except: string): boolean {
  const [left, right] = [{ ...a } as JsonObject, { ...b } as JsonObject];
  left[except] = right[except] = undefined;
  return equalValues(left, right);
}
