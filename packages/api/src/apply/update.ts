/** Ownership of fields after a create, an update or a patch that is not an apply. */

import { isSliceOver } from '@hangar/cel/work';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../object.ts';
import { isObject } from '../object.ts';
import type { Manager } from './managers.ts';
import { capUpdaters, decodeManagers, encodeManagers } from './managers.ts';
import type { MergeType } from './merge-type.ts';
import type { ConvertObject } from './ownership.ts';
import { managersAfterUpdate } from './ownership.ts';
import { isEmptyObject } from './values.ts';

export interface UpdateOptions {
  /** Type of the kind, in `apiVersion`. */
  readonly type: MergeType;
  /** As stored, in `apiVersion`; undefined: it is created. Not changed. */
  readonly live: KubeObject | undefined;
  /**
   * As decoded, patched and defaulted, before admission: in Go's form (`normalise`) for built-in kinds. Its `metadata.managedFields` are
   * those of the client.
   */
  readonly object: KubeObject;
  /** `fieldManager`, else from the user agent; empty becomes `unknown`. */
  readonly manager: string;
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** RFC 3339, UTC, whole seconds. */
  readonly now: string;
  readonly resetFields: readonly string[];
  /** See FieldFilter. */
  readonly onlyFields?: readonly string[];
  /** Without it, managers of other versions keep their fields. */
  readonly convert?: ConvertObject;
}

/**
 * Sets `object.metadata.managedFields`. Never refuses: if ownership cannot be determined, the object has none afterwards. Objects without
 * managed fields are not tracked until something is applied to them. May be abandoned and repeated: see `inSlices`.
 */
export function updateManagedFields(options: UpdateOptions): void {
  const { live, object } = options;
  const managers = managersBefore(options);
  const isTracked = managers.length > 0 || (live?.metadata.uid ?? '') === '';
  setManagedFields(object, isTracked ? encodeManagers(managersNow(options, managers)) : undefined);
}

function managersNow(options: UpdateOptions, managers: readonly Manager[]): Manager[] {
  const { type, live, object, manager, apiVersion, subresource, now, resetFields, onlyFields, convert } = options;
  const change = {
    type,
    apiVersion,
    before: live ?? emptyLike(type, object),
    after: object,
    resetFields,
    onlyFields,
    convert,
  };
  const self = {
    name: manager === '' ? 'unknown' : manager,
    operation: 'Update',
    apiVersion,
    subresource,
    now,
  } as const;
  try {
    return capUpdaters(managersAfterUpdate(managers, change, self));
  } catch (error) {
    if (isSliceOver(error)) throw error;
    // Items of lists without identity, or an object that does not convert: no ownership rather than a wrong one.
    return [];
  }
}

/** Returns an object of this kind before its creation. */
export const emptyLike = (type: MergeType, { apiVersion, kind }: JsonObject): JsonObject => ({
  ...type.emptyObject,
  apiVersion,
  kind,
});

/** Clients may write managedFields, but not through subresources; malformed or missing ones are taken from the store. */
function managersBefore({ live, object, subresource }: UpdateOptions): Manager[] {
  const stored = live?.metadata.managedFields;
  if (subresource !== '') return decodedOrNone(stored);
  const given = object.metadata.managedFields;
  if (isReset(given)) return [];
  const managers = given === stored ? [] : decodedOrNone(given);
  return managers.length > 0 ? managers : decodedOrNone(stored);
}

function decodedOrNone(entries: readonly ManagedFieldsEntry[] | undefined): Manager[] {
  try {
    return decodeManagers(entries);
  } catch (error) {
    if (isSliceOver(error)) throw error;
    return [];
  }
}

/** Reports whether the client removes managed fields: with an empty list, or one empty entry. */
function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (!Array.isArray(entries)) return false;
  const [first] = entries as unknown[];
  return entries.length === 0 || (entries.length === 1 && isObject(first) && isEmptyObject(first));
}

/** Keeps the object's shape where there is nothing to remove. */
export function setManagedFields({ metadata }: KubeObject, entries: ManagedFieldsEntry[] | undefined): void {
  if (entries) metadata.managedFields = entries;
  else if (metadata.managedFields !== undefined) delete metadata.managedFields;
}
