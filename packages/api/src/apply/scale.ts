/**
 * `scale` is a separate small object that represents one field of a larger one: managers of the larger object that own that field own
 * `spec.replicas` of its scale, and the other way round.
 */

import type { ManagedFieldsEntry } from '../object.ts';
import { difference, fieldSetOf, hasPath, isEmptySet } from './field-set.ts';
import type { Manager } from './managers.ts';
import { decodeManagers, encodeManagers, isSameManager } from './managers.ts';
import { withFields } from './ownership.ts';

const scaleVersion = 'autoscaling/v1';
const scaleFields = fieldSetOf(['spec.replicas']);
const scalePath = pathOf('spec.replicas');

/** Path of the replicas by apiVersion, as a dotted path; undefined for a version without scale. */
export type ReplicasPaths = ReadonlyMap<string, string | undefined>;

function pathOf(dotted: string): string[] {
  return dotted.split('.').map((name) => `f:${name}`);
}

type Entries = readonly ManagedFieldsEntry[] | undefined;

/** Returns the managedFields of the scale of an object. Throws ManagedFieldsError. */
export function managedFieldsOfScale(entries: Entries, paths: ReplicasPaths): ManagedFieldsEntry[] | undefined {
  const managers = decodeManagers(entries).flatMap((manager): Manager[] => {
    const path = paths.get(manager.apiVersion);
    if (path === undefined || !hasPath(manager.fields, pathOf(path))) return [];
    return [{ ...manager, apiVersion: scaleVersion, fields: scaleFields, entry: undefined }];
  });
  return encodeManagers(managers);
}

export interface ScaleWritten {
  /** managedFields of the object before the write. */
  readonly parent: Entries;
  /** managedFields of the scale after the write. */
  readonly scale: Entries;
  /** apiVersion of the object. */
  readonly apiVersion: string;
  readonly paths: ReplicasPaths;
}

/** Returns the managedFields of the object after its scale was written. Throws ManagedFieldsError. */
export function managedFieldsAfterScale({
  parent,
  scale,
  apiVersion,
  paths,
}: ScaleWritten): ManagedFieldsEntry[] | undefined {
  const before = decodeManagers(parent);
  let owners = decodeManagers(scale);
  const after: Manager[] = [];
  for (const manager of before) {
    if (!paths.has(manager.apiVersion)) continue;
    const path = paths.get(manager.apiVersion);
    if (path === undefined || !hasPath(manager.fields, pathOf(path))) {
      after.push(manager);
      continue;
    }
    // Updaters of the scale have another version and never match: their entries are created again, without a time.
    const owner = owners.find((one) => isSameManager(one, manager));
    if (owner) {
      after.push(manager);
      owners = owners.filter((one) => one !== owner);
      continue;
    }
    const fields = difference(manager.fields, fieldSetOf([path]));
    if (!isEmptySet(fields)) after.push(withFields(manager, fields));
  }
  const path = paths.get(apiVersion);
  for (const owner of owners) {
    if (path === undefined || !hasPath(owner.fields, scalePath)) continue;
    const time = before.find((one) => isSameManager(one, owner))?.time;
    after.push({ ...owner, time, apiVersion, fields: fieldSetOf([path]), entry: undefined });
  }
  return encodeManagers(after);
}
