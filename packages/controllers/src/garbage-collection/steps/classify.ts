/**
 * What the owners of a dependent are now:
 *
 * - `solid`: there, and not waiting for dependents to go
 * - `waiting`: being deleted in the foreground
 * - `dangling`: gone, or not where the dependent looks for it: in its own namespace, or in none
 *
 * An owner whose deletion was told has gone. Of any other it is believed that it has gone only when the server says so now.
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

/** Undefined: a reference can mean nothing at all (a namespaced owner of what is in no namespace), so nothing is decided. */
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

/** It may be there, in another namespace: then somebody made a mistake that is worth an event. */
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
    // An event that nobody gets is no reason to keep garbage.
    if (signal.aborted) throw error;
    log.debug('failed to search for the owner in other namespaces', { error: asError(error) });
  }
}
