/**
 * Computes the owners of fields after an object has changed. Managers lose the fields that other managers change and the fields that are
 * removed; managers without fields are dropped.
 */

import { once } from '@hangar/cel/work';
import type { JsonObject } from '../object.ts';
import type { Difference } from './compare.ts';
import { compareObjects } from './compare.ts';
import type { FieldSet, Walked } from './field-set.ts';
import { difference, intersection, isEmptySet, union } from './field-set.ts';
import type { FieldFilter } from './ignored-fields.ts';
import { filterFields, withoutServerFields } from './ignored-fields.ts';
import type { Manager, ManagerIdentity } from './managers.ts';
import { isSameManager } from './managers.ts';
import type { MergeType } from './merge-type.ts';
import { reconcile } from './reconcile.ts';

/**
 * Returns the object in another version, and that version's type; undefined if the version no longer exists, then its managers are dropped.
 * Must not change the object.
 */
export type ConvertObject = (
  object: JsonObject,
  apiVersion: string,
) => { readonly type: MergeType; readonly object: JsonObject } | undefined;

export interface Change extends FieldFilter {
  readonly type: MergeType;
  readonly apiVersion: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly convert: ConvertObject | undefined;
}

/** The difference of a change in each version, for managers of the different versions. */
export class VersionedDifference {
  readonly #change: Change;
  readonly #byVersion = new Map<string, Difference | undefined>();

  constructor(change: Change) {
    this.#change = change;
  }

  /** Returns undefined for a version that no longer exists. Without conversion other versions see no change. */
  in(apiVersion: string): Difference | undefined {
    if (!this.#byVersion.has(apiVersion)) this.#byVersion.set(apiVersion, this.#compare(apiVersion));
    return this.#byVersion.get(apiVersion);
  }

  #compare(apiVersion: string): Difference | undefined {
    const { type, before, after, convert } = this.#change;
    if (apiVersion === this.#change.apiVersion) return this.#filtered(compareObjects(type, before, after));
    if (!convert) return noDifference;
    const [old, now] = [convert(before, apiVersion), convert(after, apiVersion)];
    return old && now && this.#filtered(compareObjects(now.type, old.object, now.object));
  }

  #filtered({ changed, removed }: Difference): Difference {
    return { changed: filterFields(changed, this.#change), removed: filterFields(removed, this.#change) };
  }
}

const noDifference: Difference = { changed: {}, removed: {} };

export const withFields = (manager: Manager, fields: FieldSet): Manager =>
  fields === manager.fields ? manager : { ...manager, fields, entry: undefined };

/** Updates the sets of managers that were made by an older schema; obsolete versions stay as they are. */
export function reconcileManagers(
  managers: readonly Manager[],
  change: Pick<Change, 'type' | 'apiVersion'>,
): Manager[] {
  return managers.map((manager) =>
    manager.apiVersion === change.apiVersion ? withFields(manager, reconcile(change.type, manager.fields)) : manager,
  );
}

/** A change is usually small; but with very many managers, walking all of it for each would be slow. */
const walkedOf = ({ length }: readonly Manager[]): Walked => (length > 100 ? 'first' : 'second');

/** Fields of other managers that the change touches. */
export interface Touched {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

export function touchedFields(
  managers: readonly Manager[],
  change: VersionedDifference,
  self: ManagerIdentity,
): Touched[] {
  const touched: Touched[] = [];
  const walked = walkedOf(managers);
  for (const manager of managers) {
    if (isSameManager(manager, self)) continue;
    const seen = once(() => change.in(manager.apiVersion));
    if (!seen || isEmptySet(seen.changed)) continue;
    const fields = once(() => intersection(manager.fields, seen.changed, walked));
    if (!isEmptySet(fields)) touched.push({ manager, fields });
  }
  return touched;
}

/** Returns all managers except `self`, each without the fields that the change took from it. */
export function othersAfter(
  managers: readonly Manager[],
  change: VersionedDifference,
  self: ManagerIdentity,
): Manager[] {
  const left: Manager[] = [];
  const walked = walkedOf(managers);
  for (const manager of managers) {
    if (isSameManager(manager, self)) continue;
    const seen = once(() => change.in(manager.apiVersion));
    const rest = seen && once(() => difference(manager.fields, seen.changed, walked));
    const fields = seen && once(() => difference(rest!, seen.removed, walked));
    if (fields && !isEmptySet(fields)) left.push(withFields(manager, fields));
  }
  return left;
}

/** After an update: its manager owns the changed fields, in addition to the remaining fields that it owned. */
export function managersAfterUpdate(
  managers: readonly Manager[],
  change: Change,
  self: ManagerIdentity & { readonly now: string },
): Manager[] {
  const compared = once(() => new VersionedDifference(change));
  const reconciled = once(() => reconcileManagers(managers, change));
  const { changed, removed } = once(() => compared.in(change.apiVersion)!);
  const left = othersAfter(reconciled, compared, self);
  const owned = once(() => withoutServerFields(changed));
  const before = reconciled.find((manager) => isSameManager(manager, self));
  // Its changed fields stay: only changed fields without an owner are removed.
  const lost =
    before &&
    once(() =>
      difference(
        once(() => difference(before.fields, removed)),
        difference(changed, owned),
      ),
    );
  if (!isEmptySet(owned)) {
    const { name, operation, apiVersion, subresource, now: time } = self;
    const fields = lost ? once(() => union(lost, owned)) : owned;
    const isAsBefore = before && fields === before.fields && time === before.time;
    left.push(isAsBefore ? before : { name, operation, apiVersion, subresource, time, fields, entry: undefined });
  } else if (before && lost && !isEmptySet(lost)) left.push(withFields(before, lost));
  return left;
}
