/** What is remembered of an object that has owners, or that is being deleted in a way that concerns its dependents. */

import type { KubeObject } from '@hangar/api';
import type { Change } from '../contract.ts';
import type { Owner } from './owner.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/**
 * - `foreground`: being deleted; waits until dependents that block it have gone
 * - `orphan`: being deleted; waits until its dependents know it no more
 * - `deleting`: being deleted, and others are to finish it
 */
export type NodeState = 'live' | 'foreground' | 'orphan' | 'deleting';

/** A reference of a node to an owner. */
export interface Ownership {
  readonly owner: Owner;
  /** The owner waits for the node when it is deleted in the foreground. */
  readonly blocks: boolean;
  /** It names the owner otherwise than the others do: whether it means anybody is looked up each time. */
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
  /** What a deletion by us does to its own dependents: what its finalizers ask for. */
  readonly propagation: 'Background' | 'Foreground' | 'Orphan';
  readonly ownerships: readonly Ownership[];
}

/** A reference as it stands in an object. */
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

/** Others may have written it: what is no reference is none. */
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

/** Undefined: there is nothing about it that must be remembered. */
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
