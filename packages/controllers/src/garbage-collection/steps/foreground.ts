/** Handles an owner that is being deleted in the foreground: its dependents are deleted first; blocking ones are waited for. */

import { foregroundFinalizer } from '../node.ts';
import type { Node } from '../node.ts';
import { removeFinalizer } from './work.ts';
import type { Work } from './work.ts';

export async function finishForeground(work: Work, node: Node): Promise<void> {
  const blocking = work.graph.blockingDependentsOf(node.uid);
  if (blocking.length === 0) {
    await removeFinalizer(work, node, foregroundFinalizer);
    return;
  }
  // The feed delivers the deletion of the last one.
  for (const dependent of blocking) if (dependent.state === 'live') work.ask(dependent);
}
