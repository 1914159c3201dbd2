/**
 * Server-side apply: merges a configuration into the live object by its type, removes fields that its manager applied before and leaves out
 * now, and makes the manager the owner of the applied fields. A different value for a field that another manager owns is a conflict, unless
 * forced.
 */

import { isSliceOver, once } from '@hangar/cel/work';
import { parseApiVersion } from '../builtin/schemas.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { isObject } from '../object.ts';
import { badRequest, UnclassifiedError } from '../status/status.ts';
import { conflictError } from './conflicts.ts';
import { difference, isEmptySet, isSubset } from './field-set.ts';
import { appliedFields } from './fields-of.ts';
import { filterFields, withoutServerFields } from './ignored-fields.ts';
import { kubectlManager, lastAppliedFields, updateLastApplied } from './last-applied.ts';
import type { Manager, ManagerIdentity } from './managers.ts';
import { decodeManagers, encodeManagers, isSameManager } from './managers.ts';
import type { MergeType } from './merge-type.ts';
import { mergeValues } from './merge.ts';
import type { ConvertObject, Touched } from './ownership.ts';
import {
  managersAfterUpdate,
  othersAfter,
  reconcileManagers,
  touchedFields,
  VersionedDifference,
} from './ownership.ts';
import { ElementError } from './path-element.ts';
import { prune } from './prune.ts';
import { emptyLike, setManagedFields } from './update.ts';
import { problemsText, validatePatch } from './validate.ts';
import { cloneValue, equalValues } from './values.ts';

export interface ApplyOptions {
  /** Type of the kind, in `apiVersion`. */
  readonly type: MergeType;
  /** As stored, in `apiVersion`; undefined: it is created. Not changed. */
  readonly live: KubeObject | undefined;
  /** As the client wrote it: not defaulted, nothing pruned. Not changed. */
  readonly patch: JsonObject;
  readonly manager: string;
  /** Take ownership of fields that other managers own. */
  readonly force: boolean;
  /** The apiVersion of the request; the patch must have the same. */
  readonly apiVersion: string;
  /** The kind that the patch must have; default: that of the live object. */
  readonly kind?: string;
  readonly subresource: string;
  /** RFC 3339, UTC, whole seconds. */
  readonly now: string;
  readonly resetFields: readonly string[];
  readonly onlyFields?: readonly string[];
  readonly convert?: ConvertObject;
}

export interface Applied {
  /** The merged object with its managedFields, neither defaulted nor validated. Only these entries are shared with other objects. */
  readonly object: KubeObject;
  /** Reports whether anything except managedFields differs from the live object. */
  readonly changed: boolean;
}

/**
 * Throws StatusErrors: conflicts (409), bad requests, and UnclassifiedError (500) for values that do not match the type. May be abandoned
 * and repeated: see `inSlices`.
 */
export function applyObject(options: ApplyOptions): Applied {
  once(() => checkPatch(options));
  const base = options.live ?? (emptyLike(options.type, options.patch) as KubeObject);
  const outcome = applyAsManager(options, base, trackedManagers(options, base));
  const object = once(() => cloneValue(withoutManagedFields(outcome.merged)));
  setManagedFields(object, encodeManagers(outcome.managers));
  if (options.manager === kubectlManager) updateLastApplied(object, options.patch);
  return { object, changed: outcome.changed };
}

function checkPatch({ type, patch, apiVersion, kind, live }: ApplyOptions): void {
  const expected = kind ?? live?.kind ?? patch['kind'];
  if (patch['apiVersion'] !== apiVersion || patch['kind'] !== expected) {
    throw badRequest(`invalid object type: ${kindText(patch)}`);
  }
  const { metadata } = patch;
  if (isObject(metadata) && Array.isArray(metadata['managedFields'])) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const problems = validatePatch(type, patch);
  if (problems.length > 0) {
    throw new UnclassifiedError(
      `failed to create typed patch object (${objectText(patch)}): ${problemsText(problems)}`,
    );
  }
}

/** Returns `apps/v1, Kind=Deployment`; the text of the core group begins with a slash. */
function kindText({ apiVersion, kind }: JsonObject): string {
  const { group, version } = parseApiVersion(typeof apiVersion === 'string' ? apiVersion : '');
  return `${group}/${version}, Kind=${typeof kind === 'string' ? kind : ''}`;
}

function objectText(object: JsonObject): string {
  const { namespace, name } = isObject(object['metadata']) ? object['metadata'] : {};
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return `${text(namespace)}/${text(name)}; ${kindText(object)}`;
}

/** Returns the managers. An object without any gets one manager for all fields that it had before the first apply. */
function trackedManagers(options: ApplyOptions, base: KubeObject): Manager[] {
  const { type, apiVersion, subresource, now, resetFields, onlyFields, convert } = options;
  let managers: Manager[];
  try {
    managers = decodeManagers(base.metadata?.managedFields);
  } catch (error) {
    if (isSliceOver(error)) throw error;
    throw new UnclassifiedError(`failed to decode managed fields: ${(error as Error).message}`, error);
  }
  if (managers.length > 0 || !options.live) return managers;
  const change = { type, apiVersion, before: emptyLike(type, base), after: base, resetFields, onlyFields, convert };
  const self = { name: 'before-first-apply', operation: 'Update', apiVersion, subresource, now } as const;
  return inTypedObject(base, () => managersAfterUpdate(managers, change, self));
}

interface Outcome {
  readonly merged: JsonObject;
  readonly managers: Manager[];
  readonly changed: boolean;
}

function applyAsManager(options: ApplyOptions, base: KubeObject, before: readonly Manager[]): Outcome {
  const { type, patch, apiVersion, subresource, now, resetFields, onlyFields, convert } = options;
  const self: ManagerIdentity = { name: options.manager, operation: 'Apply', apiVersion, subresource };
  function apply(): Outcome {
    const managers = once(() => reconcileManagers(before, options));
    const last = managers.find((one) => isSameManager(one, self));
    const fields = once(() => filterFields(appliedFields(type, patch), options));
    const applier: Manager = { ...self, time: last?.time, fields, entry: undefined };
    let merged = once(() => mergeValues(type, base, patch) as JsonObject);
    if (last && !isEmptySet(last.fields)) {
      const all = [...managers.filter((one) => one !== last), applier];
      merged = prune({ type, apiVersion, merged, last, managers: all, convert });
    }
    const change = { type, apiVersion, before: base, after: merged, resetFields, onlyFields, convert };
    const compared = once(() => new VersionedDifference(change));
    if (!options.force) {
      const touched = touchedFields(managers, compared, self);
      once(() => refuseConflicts(options, base, touched));
    }
    const changed = once(() => !equalValues(base, merged));
    const left = othersAfter(managers, compared, self);
    const owned = once(() => withoutServerFields(fields));
    if (!isEmptySet(owned)) {
      left.push(applierAfter({ ...applier, fields: owned }, last, changed ? now : undefined));
    }
    return { merged, managers: left, changed };
  }
  return inTypedObject(base, apply);
}

/** The time of the applier is that of its last apply that changed the object. */
function applierAfter(applier: Manager, last: Manager | undefined, time: string | undefined): Manager {
  if (time !== undefined) return { ...applier, time };
  if (!last || last.apiVersion !== applier.apiVersion) return applier;
  const isAsBefore =
    once(() => isSubset(applier.fields, last.fields)) && once(() => isSubset(last.fields, applier.fields));
  return isAsBefore ? last : applier;
}

function refuseConflicts(
  { type, manager, apiVersion }: ApplyOptions,
  base: KubeObject,
  touched: readonly Touched[],
): void {
  if (touched.length === 0) return;
  if (manager !== kubectlManager) throw conflictError(touched);
  const allowed = lastAppliedFields(type, base, apiVersion);
  const refused = touched
    .map((one) => ({ ...one, fields: difference(one.fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (refused.length > 0) throw conflictError(refused);
}

/** Rethrows the error of a live object whose lists have items without identity: it cannot be merged into. */
function inTypedObject<T>(object: KubeObject, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof ElementError)) throw error;
    throw new UnclassifiedError(`failed to create typed live object (${objectText(object)}): ${error.message}`, error);
  }
}

function withoutManagedFields(object: JsonObject): KubeObject {
  const { metadata } = object;
  if (!isObject(metadata)) return { ...object, metadata: {} } as unknown as KubeObject;
  const { managedFields: _, ...others } = metadata;
  return { ...object, metadata: others } as unknown as KubeObject;
}
