/**
 * Applying a configuration removes the fields that its manager applied before and leaves out now, unless another manager owns them. Removal
 * has three steps, as in kube-apiserver: remove all fields that were applied last time, restore all fields that a manager owns now, restore
 * all fields that the manager did not own before.
 */

import { once } from '@hangar/cel/work';
import type { JsonObject } from '../object.ts';
import { appliedFields } from './fields-of.ts';
import type { FieldSet } from './field-set.ts';
import { difference, intersection, isSubset, noFields, union, unionOfAll } from './field-set.ts';
import type { Manager } from './managers.ts';
import type { MergeType } from './merge-type.ts';
import type { ConvertObject } from './ownership.ts';
import { removeFields, withNamedFields } from './remove.ts';

export interface PruneOptions {
  readonly type: MergeType;
  readonly apiVersion: string;
  readonly merged: JsonObject;
  /** The applier before this apply. */
  readonly last: Manager;
  /** All managers, including the applier with its newly applied fields. */
  readonly managers: readonly Manager[];
  readonly convert: ConvertObject | undefined;
}

export function prune({ type, apiVersion, merged, last, managers, convert }: PruneOptions): JsonObject {
  const applier = managers.find(
    (one) => one.name === last.name && one.operation === 'Apply' && one.subresource === last.subresource,
  );
  // Everything that was applied is applied again: there is nothing to remove.
  if (last.apiVersion === apiVersion && applier && once(() => isSubset(last.fields, applier.fields))) return merged;
  if (!convert || last.apiVersion === apiVersion) {
    const at = { type, object: merged };
    return pruneAt(at, last.fields, ownedByVersion(managers, convert ? undefined : apiVersion), apiVersion, convert);
  }
  const at = convert(merged, last.apiVersion);
  if (!at) return merged;
  const pruned = pruneAt(at, last.fields, ownedByVersion(managers), last.apiVersion, convert);
  return convert(pruned, apiVersion)?.object ?? merged;
}

interface Typed {
  readonly type: MergeType;
  readonly object: JsonObject;
}

/** Without conversion all versions count as `only`: paths seldom differ, and keeping too much does less harm. */
function ownedByVersion(managers: readonly Manager[], only?: string): Map<string, FieldSet> {
  const byVersion = Map.groupBy(managers, ({ apiVersion }) => only ?? apiVersion);
  return new Map(
    [...byVersion].map(([version, all]) => [version, once(() => unionOfAll(all.map(({ fields }) => fields)))]),
  );
}

function pruneAt(
  merged: Typed,
  last: FieldSet,
  owned: Map<string, FieldSet>,
  version: string,
  convert: ConvertObject | undefined,
): JsonObject {
  const { type, object } = merged;
  const lastFields = once(() => withNamedFields(type, last));
  const mergedFields = namedFieldsOf(type, object);
  let pruned = remove(type, object, lastFields);
  pruned = restoreOwned(merged, pruned, owned.get(version) ?? noFields);
  owned.delete(version);
  for (const [other, fields] of owned) {
    const [mergedThere, prunedThere] = [convert?.(object, other), convert?.(pruned, other)];
    if (!mergedThere || !prunedThere) continue;
    pruned = convert!(restoreOwned(mergedThere, prunedThere.object, fields), version)?.object ?? pruned;
  }
  const prunedFields = namedFieldsOf(type, pruned);
  const gone = once(() => difference(mergedFields, prunedFields));
  return remove(
    type,
    object,
    once(() => intersection(gone, lastFields)),
  );
}

function restoreOwned({ type, object }: Typed, pruned: JsonObject, owned: FieldSet): JsonObject {
  const everything = namedFieldsOf(type, object);
  const left = namedFieldsOf(type, pruned);
  const named = once(() => withNamedFields(type, owned));
  const kept = once(() => union(left, named));
  return remove(
    type,
    object,
    once(() => difference(everything, kept)),
  );
}

function namedFieldsOf(type: MergeType, object: JsonObject): FieldSet {
  const fields = once(() => appliedFields(type, object));
  return once(() => withNamedFields(type, fields));
}

const remove = (type: MergeType, object: JsonObject, fields: FieldSet): JsonObject =>
  once(() => (removeFields(type, object, fields) ?? {}) as JsonObject);
