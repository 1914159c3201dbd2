/**
 * Owner references: the garbage collector follows them, and controllers map objects to their owners. The rules are those of
 * controller-runtime: at most one controller; a namespaced owner owns only objects in its namespace.
 *
 * `set…` and `remove…` change their argument, which must be a draft or a copy, not an object of a cache.
 */

import type { OwnerReference } from '@hangar/api';
import { groupOf } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { RuntimeError } from '../errors.ts';

/** Any object with metadata, including a draft that does not exist yet. */
export type Owned = Pick<ApiObject, 'metadata'>;

/** Options of owner references. */
export interface OwnerOptions {
  /** A foreground deletion of the owner waits for the owned object. Absent: true for controller references. */
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** Returns a controller reference for drafts and server-side apply. Throws `InvalidOwner` when the owner has no uid yet. */
export function controllerReference(
  owner: ApiObject,
  { blockOwnerDeletion = true }: OwnerOptions = {},
): OwnerReference {
  return { ...ownerReference(owner, { blockOwnerDeletion }), controller: true };
}

/** Returns an owner reference that is not a controller reference. Throws `InvalidOwner` when the owner has no uid yet. */
export function ownerReference(owner: ApiObject, { blockOwnerDeletion }: OwnerOptions = {}): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const { name = '', uid = '' } = metadata;
  if ([apiVersion, kind, name, uid].some((part) => part === undefined || part === '')) {
    throw new RuntimeError('InvalidOwner', 'an owner must have apiVersion, kind, metadata.name and metadata.uid');
  }
  return { apiVersion, kind, name, uid, ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }) };
}

/**
 * Sets the controller reference of an object. Throws `AlreadyOwned` when another object controls it, and `InvalidOwner` when the owner
 * cannot own it. Replaces a reference to the same owner with another uid (the owner was recreated) or version.
 */
export function setControllerReference(owner: ApiObject, object: Owned, options?: OwnerOptions): void {
  const reference = controllerReference(owner, options);
  requireReachable(owner, object);
  const other = controllerOf(object);
  if (other && !isSameObject(other, reference)) {
    const { namespace = '', name = '' } = object.metadata;
    throw new RuntimeError('AlreadyOwned', `${namespace}/${name} is already controlled by ${other.kind} ${other.name}`);
  }
  upsert(object, reference);
}

/** Adds an owner reference that is not a controller reference. Throws `InvalidOwner`. */
export function setOwnerReference(owner: ApiObject, object: Owned, options?: OwnerOptions): void {
  const reference = ownerReference(owner, options);
  requireReachable(owner, object);
  upsert(object, reference);
}

/** Removes the owner reference. Returns true if the object changed. */
export function removeOwnerReference(owner: ApiObject, object: Owned): boolean {
  const all = object.metadata.ownerReferences ?? [];
  const left = all.filter((one) => !isSameObject(one, { ...owner, name: owner.metadata.name ?? '' }));
  if (left.length === all.length) return false;
  if (left.length === 0) delete object.metadata.ownerReferences;
  else object.metadata.ownerReferences = left;
  return true;
}

/** Returns the controller reference of an object. */
export const controllerOf = ({ metadata }: Owned): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);

/** Compares the uid, so a recreated owner with the same name does not match. */
export const isControlledBy = (object: Owned, owner: Owned): boolean => {
  const uid = controllerOf(object)?.uid;
  return uid !== undefined && uid === owner.metadata.uid;
};

/** Compares the uid of all owner references. */
export const isOwnedBy = ({ metadata }: Owned, owner: Owned): boolean =>
  owner.metadata.uid !== undefined && (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);

function requireReachable(owner: Owned, object: Owned): void {
  const { namespace: ownerNamespace } = owner.metadata;
  const { namespace } = object.metadata;
  // The garbage collector looks for owners in the namespace of the object, and deletes the object if it does not find them there.
  if (ownerNamespace === undefined || ownerNamespace === '' || ownerNamespace === namespace) return;
  const what =
    namespace === undefined || namespace === '' ? 'a cluster-scoped object' : `an object in namespace ${namespace}`;
  throw new RuntimeError('InvalidOwner', `an owner in namespace ${ownerNamespace} cannot own ${what}`);
}

function upsert({ metadata }: Owned, reference: OwnerReference): void {
  const all = metadata.ownerReferences ?? [];
  const at = all.findIndex((one) => isSameObject(one, reference));
  metadata.ownerReferences = at === -1 ? [...all, reference] : all.with(at, reference);
}

type Named = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>;

/** Ignores version and uid. */
const isSameObject = (a: Named, b: Named): boolean =>
  a.kind === b.kind && a.name === b.name && groupOf(a) === groupOf(b);
