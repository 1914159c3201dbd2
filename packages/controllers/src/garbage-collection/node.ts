/** State of an object that has owners, or that is being deleted in a way that affects its dependents. */

import type { KubeObject } from '@hangar/api';
import type { Change } from '../contract.ts';
import type { Owner } from './owner.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/**
 * - `foreground`: being deleted; waits until blocking dependents are deleted
 * - `orphan`: being deleted; waits until its dependents no longer reference it
 * - `deleting`: being deleted, other finalizers are pending
 */
export type NodeState = 'live' | 'foreground' | 'orphan' | 'deleting';

/** A reference of a node to an owner. */
export interface Ownership {
  readonly owner: Owner;
  /** A foreground deletion of the owner waits for the node. */
  readonly blocks: boolean;
  /** The reference differs from those of the other dependents: the owner is looked up each time. */
  readonly isDeviant: boolean;
}

export interface Node {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly state: NodeState;
  /** Propagation policy when the garbage collector deletes it, according to its finalizers. */
  readonly propagation: 'Background' | 'Foreground' | 'Orphan';
  readonly ownerships: readonly Ownership[];
}

/** An owner reference as written in an object. */
export interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
}

const isReference = (value: unknown): value is Reference => {
  const { apiVersion, kind, name, uid } = (value ?? {}) as Partial<Record<keyof Reference, unknown>>;
  return [apiVersion, kind, name, uid].every((one) => typeof one === 'string' && one !== '');
};

/** Skips malformed references, which other writers may have created. */
export const referencesOf = ({ metadata }: Pick<KubeObject, 'metadata'>): Reference[] =>
  (Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : []).filter(isReference);

export function stateOf({ metadata }: Pick<KubeObject, 'metadata'>): NodeState {
  if (!metadata.deletionTimestamp) return 'live';
  if (metadata.finalizers?.includes(orphanFinalizer)) return 'orphan';
  return metadata.finalizers?.includes(foregroundFinalizer) ? 'foreground' : 'deleting';
}

export function propagationOf({ metadata }: Pick<KubeObject, 'metadata'>): Node['propagation'] {
  if (metadata.finalizers?.includes(orphanFinalizer)) return 'Orphan';
  return metadata.finalizers?.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}

/** Returns undefined if nothing about the object is relevant. */
export function nodeOf(
  change: Change,
  object: KubeObject,
  ownershipOf: (reference: Reference) => Ownership,
): Node | undefined {
  const references = referencesOf(object);
  const state = stateOf(object);
  if (references.length === 0 && state !== 'foreground' && state !== 'orphan') return undefined;
  const { group, resource, namespace, name } = change;
  return {
    group,
    resource,
    namespace,
    name,
    uid: object.metadata.uid ?? '',
    revision: Number(change.resourceVersion),
    state,
    propagation: propagationOf(object),
    ownerships: references.map(ownershipOf),
  };
}
