/**
 * Collects a dependent whose owners may be gone. It is deleted when no owner is left:
 *
 * | owners             | action                                                                              |
 * |--------------------|-------------------------------------------------------------------------------------|
 * | some solid         | it stays; references to other owners are removed                                     |
 * | some waiting       | it is deleted in the foreground when it has dependents itself, else as below         |
 * | all dangling       | it is deleted as its own finalizers say, else in the background                      |
 *
 * Preconditions are its uid and its resourceVersion: a concurrent adoption wins.
 */

import { hasCode } from '@hangar/core';
import type { DeleteOptions } from '@hangar/client';
import { kindOfResource } from '../kinds.ts';
import { propagationOf, referencesOf, stateOf } from '../node.ts';
import type { Node } from '../node.ts';
import { classify } from './classify.ts';
import { keyOfNode, liveObject, patchMetadata, removeOwners } from './work.ts';
import type { LiveObject, Work } from './work.ts';

export async function collect(work: Work, node: Node): Promise<void> {
  if (await collectedAsTold(work, node)) return;
  const live = await liveObject(work, node);
  if (!live || stateOf(live.object) !== 'live') return;
  const references = referencesOf(live.object);
  if (references.length === 0) return;
  const classified = await classify(work, node, references);
  if (!classified) return;
  const { solid, waiting, dangling } = classified;
  if (solid.length > 0) {
    const useless = new Set([...dangling, ...waiting].map(({ uid }) => uid));
    if (useless.size > 0) await removeOwners(work, node, useless);
    return;
  }
  const hasDependents = [...work.graph.dependentsOf(node.uid)].length > 0;
  if (waiting.length > 0 && hasDependents) return deleteInForeground(work, node, live);
  await deleteLive(work, live, propagationOf(live.object));
}

/** Fast path: usually the delivered state is current, which its resourceVersion proves. One request instead of three. */
async function collectedAsTold({ client, mapper, signal }: Work, node: Node): Promise<boolean> {
  const { ownerships, namespace } = node;
  if (ownerships.length === 0 || !ownerships.every(({ owner }) => owner.isGoneFor(namespace))) return false;
  const kind = await kindOfResource(mapper, node, signal);
  const { uid, revision, propagation } = node;
  const preconditions = { uid, resourceVersion: String(revision) };
  try {
    const options = { preconditions, propagationPolicy: propagation, signal };
    // False: not found, perhaps because this version is no longer served. The slow path decides.
    return (await client.metadata.delete(kind, keyOfNode(node), options)) !== false;
  } catch (error) {
    // It was changed or recreated since.
    if (hasCode(error, 'Conflict')) return false;
    throw error;
  }
}

async function deleteInForeground(work: Work, node: Node, live: LiveObject): Promise<void> {
  const isCycle = Array.from(work.graph.dependentsOf(node.uid)).some(({ state }) => state === 'foreground');
  if (!isCycle) return deleteLive(work, live, 'Foreground');
  // Each would wait for the other forever: this one stops blocking its owners.
  const isThere = await patchMetadata(work, node, ({ ownerReferences = [] }) =>
    ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion)
      ? { ownerReferences: ownerReferences.map((one) => ({ ...one, blockOwnerDeletion: false })) }
      : undefined,
  );
  const unblocked = isThere ? await liveObject(work, node) : undefined;
  if (unblocked) await deleteLive(work, unblocked, 'Foreground');
}

async function deleteLive(
  { client, signal }: Work,
  { kind, key, object }: LiveObject,
  propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>,
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
  await client.metadata.delete(kind, key, { preconditions, propagationPolicy, signal });
}
