/**
 * Updates sets of fields that were made by another schema: where a list or map has become atomic, the owner of a part of it owns all of it.
 * The reverse needs no change: owners of the whole keep the whole.
 */

import { once } from '@hangar/cel/work';
import type { FieldSet } from './field-set.ts';
import { isEmptySet, isMember, leaf, nodeOf, noFields } from './field-set.ts';
import type { MergeType } from './merge-type.ts';
import { deducedMergeType } from './merge-type.ts';

/** Every write checks the same set objects again: the result is cached with them. */
const reconciled = new WeakMap<MergeType, WeakMap<FieldSet, FieldSet>>();

/** Returns the same object if nothing has changed. */
export function reconcile(type: MergeType, fields: FieldSet): FieldSet {
  if (isEmptySet(fields)) return fields;
  // A separate part, whether the result is cached or not: each attempt must have the same parts.
  return once(() => {
    let known = reconciled.get(type);
    if (!known) reconciled.set(type, (known = new WeakMap()));
    let found = known.get(fields);
    if (!found) {
      found = below(type, fields, false, true) ?? noFields;
      known.set(fields, found);
    }
    return found;
  });
}

function node(type: MergeType, fields: FieldSet): FieldSet {
  if (isEmptySet(fields)) return fields;
  const { map, list } = type;
  if (map) {
    if (!map.hasFields && map.element === deducedMergeType) return fields;
    if (map.isAtomic) return leaf;
  } else if (type.scalar !== undefined) return fields;
  else if (list?.isAtomic) return leaf;
  return below(type, fields, isMember(fields), false) ?? leaf;
}

function below(type: MergeType, fields: FieldSet, isSelf: boolean, isRoot: boolean): FieldSet | undefined {
  if (isRoot && !type.map?.hasFields) return fields;
  let changed: Map<string, FieldSet> | undefined;
  for (const element in fields) {
    if (element === '.') continue;
    const old = fields[element]!;
    const child = isEmptySet(old) ? undefined : typeAt(type, element);
    const now = child ? node(child, old) : old;
    if (now !== old) (changed ??= new Map()).set(element, now);
  }
  if (!changed) return fields;
  const elements = Object.keys(fields).filter((element) => element !== '.');
  return nodeOf(
    isSelf,
    elements,
    elements.map((element) => changed.get(element) ?? fields[element]!),
  );
}

function typeAt({ map, list }: MergeType, element: string): MergeType | undefined {
  if (map) return element[0] === 'f' ? map.typeOf(element.slice(2)) : map.element;
  return list?.element;
}
