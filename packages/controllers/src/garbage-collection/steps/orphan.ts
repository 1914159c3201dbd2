/** Handles an owner that is being deleted with orphaning: its dependents lose their reference, then it is deleted. */

import { eachAtOnce } from '@hangar/core';
import { orphanFinalizer } from '../node.ts';
import type { Node } from '../node.ts';
import { liveObject, removeFinalizer, removeOwners } from './work.ts';
import type { Work } from './work.ts';

const atOnce = 32;

export async function orphan(work: Work, node: Node): Promise<void> {
  const live = await liveObject(work, node);
  if (!live?.object.metadata.finalizers?.includes(orphanFinalizer)) return;
  const owner = new Set([node.uid]);
  await eachAtOnce(atOnce, [...work.graph.dependentsOf(node.uid)], (dependent) => removeOwners(work, dependent, owner));
  await removeFinalizer(work, node, orphanFinalizer);
}
