/**
 * Who owns an object: what the garbage collector follows, and what brings a controller back to the owner. The rules are
 * controller-runtime's: one controller at most; an owner that has a namespace owns only what is in it.
 *
 * `set…` and `remove…` change the object that they are given, which is a draft or a copy, never a cache's own.
 */

import type { OwnerReference } from '@hangar/api';
import { groupOf } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { RuntimeError } from '../errors.ts';

/** Anything with metadata: also a draft that does not exist yet. */
export type Owned = Pick<ApiObject, 'metadata'>;

export interface OwnerOptions {
  /** Deletion of the owner in the foreground waits for the owned. A controller's: yes unless said otherwise. */
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** For drafts and for server-side apply. Throws `InvalidOwner` when the owner does not exist on a server yet. */
export function controllerReference(
  owner: ApiObject,
  { blockOwnerDeletion = true }: OwnerOptions = {},
): OwnerReference {
  return { ...ownerReference(owner, { blockOwnerDeletion }), controller: true };
}

export function ownerReference(owner: ApiObject, { blockOwnerDeletion }: OwnerOptions = {}): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const { name = '', uid = '' } = metadata;
  if ([apiVersion, kind, name, uid].some((part) => part === undefined || part === '')) {
    throw new RuntimeError('InvalidOwner', 'an owner must have apiVersion, kind, metadata.name and metadata.uid');
  }
  return { apiVersion, kind, name, uid, ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }) };
}

/**
 * Throws `AlreadyOwned` when another object controls it, `InvalidOwner` when the owner cannot own it. One that controls it
 * already under another uid (it was made anew) or version is replaced.
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

/** Beside others, and without being the controller. Throws `InvalidOwner`. */
export function setOwnerReference(owner: ApiObject, object: Owned, options?: OwnerOptions): void {
  const reference = ownerReference(owner, options);
  requireReachable(owner, object);
  upsert(object, reference);
}

/** True when there was one. */
export function removeOwnerReference(owner: ApiObject, object: Owned): boolean {
  const all = object.metadata.ownerReferences ?? [];
  const left = all.filter((one) => !isSameObject(one, { ...owner, name: owner.metadata.name ?? '' }));
  if (left.length === all.length) return false;
  if (left.length === 0) delete object.metadata.ownerReferences;
  else object.metadata.ownerReferences = left;
  return true;
}

/** The reference to the one that controls it. */
export const controllerOf = ({ metadata }: Owned): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);

/** By uid: an owner that was made anew under the same name is another one. */
export const isControlledBy = (object: Owned, owner: Owned): boolean => {
  const uid = controllerOf(object)?.uid;
  return uid !== undefined && uid === owner.metadata.uid;
};

/** By uid, as controller or not. */
export const isOwnedBy = ({ metadata }: Owned, owner: Owned): boolean =>
  owner.metadata.uid !== undefined && (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);

function requireReachable(owner: Owned, object: Owned): void {
  const { namespace: ownerNamespace } = owner.metadata;
  const { namespace } = object.metadata;
  // The garbage collector looks for owners in the owned's namespace, and deletes what it does not find there.
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

/** Of whatever version and uid. */
const isSameObject = (a: Named, b: Named): boolean =>
  a.kind === b.kind && a.name === b.name && groupOf(a) === groupOf(b);
