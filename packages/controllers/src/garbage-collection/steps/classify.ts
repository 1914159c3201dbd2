/**
 * State of the owners of a dependent:
 *
 * - `solid`: exists, and does not wait for dependents
 * - `waiting`: being deleted in the foreground
 * - `dangling`: deleted, or not where the dependent refers to it: in its namespace, or cluster-scoped
 *
 * An owner whose deletion was delivered is gone. Any other owner counts as gone only if the server confirms it now.
 */

import type { Kind, ObjectKey } from '@hangar/client';
import { asError } from '@hangar/core';
import { kindOfReference } from '../kinds.ts';
import { foregroundFinalizer } from '../node.ts';
import type { Node, Reference } from '../node.ts';
import { tellInvalidNamespace } from './invalid-namespace.ts';
import { findNamed } from './work.ts';
import type { Work } from './work.ts';

export interface Classified {
  readonly solid: readonly Reference[];
  readonly waiting: readonly Reference[];
  readonly dangling: readonly Reference[];
}

/** Returns undefined if a reference is invalid (a namespaced owner of a cluster-scoped object): nothing is decided. */
export async function classify(
  work: Work,
  node: Node,
  references: readonly Reference[],
): Promise<Classified | undefined> {
  const all = { solid: [] as Reference[], waiting: [] as Reference[], dangling: [] as Reference[] };
  for (const reference of references) {
    const verdict = await verdictOf(work, node, reference);
    if (verdict === 'meaningless') return undefined;
    all[verdict].push(reference);
  }
  return all;
}

async function verdictOf(work: Work, node: Node, reference: Reference): Promise<keyof Classified | 'meaningless'> {
  const { mapper, graph, signal, log } = work;
  if (graph.owners.get(reference.uid)?.isGoneFor(node.namespace)) return 'dangling';
  const kind = await kindOfReference(mapper, reference, signal);
  if (kind.isNamespaced && node.namespace === '') {
    log.info('a cluster-scoped object cannot have a namespaced owner', { owner: reference.name, kind: reference.kind });
    await reportElsewhere(work, node, { kind, reference });
    return 'meaningless';
  }
  const key: ObjectKey = kind.isNamespaced
    ? { namespace: node.namespace, name: reference.name }
    : { name: reference.name };
  const object = await findNamed(work, kind, key);
  if (object?.metadata.uid !== reference.uid) {
    await reportElsewhere(work, node, { kind, reference });
    return 'dangling';
  }
  const owner = graph.owners.get(reference.uid);
  if (owner?.isNamedBy(reference)) owner.foundIn = kind.isNamespaced ? node.namespace : '';
  const { deletionTimestamp, finalizers } = object.metadata;
  return deletionTimestamp && finalizers?.includes(foregroundFinalizer) ? 'waiting' : 'solid';
}

/** The owner may exist in another namespace: reports that mistake with an event. */
async function reportElsewhere(
  work: Work,
  node: Node,
  { kind, reference }: { readonly kind: Kind; readonly reference: Reference },
): Promise<void> {
  if (!kind.isNamespaced) return;
  const { client, signal, log } = work;
  const fieldSelector = { 'metadata.name': reference.name };
  try {
    const { items } = await client.metadata.list(kind, { fieldSelector, signal });
    if (items.some(({ metadata }) => metadata.uid === reference.uid)) await tellInvalidNamespace(work, node, reference);
  } catch (error) {
    // A failed event must not block garbage collection.
    if (signal.aborted) throw error;
    log.debug('failed to search for the owner in other namespaces', { error: asError(error) });
  }
}
