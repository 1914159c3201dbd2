/**
 * Field managers of the number of replicas: it is one of many fields of the scaled object, and the only one of its scale. A write of the
 * scale sees the entries of its owners, in the form of the scale, and the result is merged back:
 *
 *   of the object  kubectl Update apps/v1          f:spec { f:replicas, f:template … }
 *   of the scale   kubectl Update autoscaling/v1   f:spec { f:replicas }
 *   scaled by hpa  kubectl Update apps/v1          f:spec { f:template … }
 *                  hpa     Update apps/v1 (scale)  f:spec { f:replicas }
 */

import { isObject, parseApiVersion } from '@hangar/api';
import type { JsonObject, ManagedFieldsEntry } from '@hangar/api';

type Entries = readonly ManagedFieldsEntry[];
/** Path of the number in the object: `['spec', 'replicas']`. */
export type ReplicasPath = readonly string[];

export const scaleApiVersion = 'autoscaling/v1';
const scalePath: ReplicasPath = ['spec', 'replicas'];

/** Returns the entries of the owners of the number, in the form of the scale. */
export function managersOfScale(entries: Entries, path: ReplicasPath): ManagedFieldsEntry[] {
  return entries.flatMap((entry) =>
    owns(entry, path) ? [{ ...entry, apiVersion: scaleApiVersion, fieldsV1: fieldsOf(scalePath) }] : [],
  );
}

/** Returns the object's entries after a write of its scale resulted in `scaleEntries`. */
export function managersAfterScale(
  entries: Entries,
  scaleEntries: Entries,
  { path, apiVersion }: { path: ReplicasPath; apiVersion: string },
): ManagedFieldsEntry[] {
  const { group } = parseApiVersion(apiVersion);
  const others = new Map(scaleEntries.map((entry) => [identity(entry), entry]));
  const kept: ManagedFieldsEntry[] = [];
  for (const entry of entries) {
    if (parseApiVersion(entry.apiVersion ?? '').group !== group) continue;
    // Only appliers keep their identity across versions: an updater comes back from the scale as a separate manager.
    if (!owns(entry, path) || others.delete(identity(entry))) kept.push(entry);
    else {
      const fieldsV1 = without(entry.fieldsV1 as JsonObject, path);
      if (fieldsV1) kept.push({ ...entry, fieldsV1 });
    }
  }
  for (const entry of others.values()) {
    if (!owns(entry, scalePath)) continue;
    const { time: _, ...rest } = entry;
    kept.push({ ...rest, apiVersion, fieldsV1: fieldsOf(path) });
  }
  return kept.sort(byOperationAndTime);
}

const identity = ({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string =>
  JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);

function byOperationAndTime(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  const key = ({ operation, time, manager, apiVersion, subresource }: ManagedFieldsEntry): string[] => [
    operation ?? '',
    time ?? '',
    manager ?? '',
    apiVersion ?? '',
    subresource ?? '',
  ];
  const [one, other] = [key(a), key(b)];
  const at = one.findIndex((text, i) => text !== other[i]);
  return at < 0 ? 0 : one[at]! < other[at]! ? -1 : 1;
}

function owns({ fieldsV1 }: ManagedFieldsEntry, path: ReplicasPath): boolean {
  let fields: unknown = fieldsV1;
  for (const name of path) {
    if (!isObject(fields) || !Object.hasOwn(fields, `f:${name}`)) return false;
    fields = fields[`f:${name}`];
  }
  return true;
}

const fieldsOf = (path: ReplicasPath): JsonObject =>
  path.reduceRight<JsonObject>((fields, name) => ({ [`f:${name}`]: fields }), {});

/** Returns undefined if nothing is left. */
function without(fields: JsonObject, [name, ...rest]: ReplicasPath): JsonObject | undefined {
  const key = `f:${name}`;
  const { [key]: inner, ...others } = fields;
  const remaining = rest.length > 0 ? without(inner as JsonObject, rest) : undefined;
  const left = remaining ? { ...fields, [key]: remaining } : others;
  return Object.keys(left).length > 0 ? left : undefined;
}
