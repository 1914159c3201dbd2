/** Orders nodes of a graph so that each comes after its dependencies (Tarjan's algorithm, without recursion). */

import type { Steps } from '@hangar/core';

interface Visit<T> {
  readonly node: T;
  readonly next: Iterator<T>;
  readonly index: number;
  low: number;
}

/**
 * Returns groups of nodes, dependencies first. Nodes that depend on each other are one group. Dependencies outside of `nodes` do
 * not count. `step` is called for each node and dependency, and returns whether the work should pause.
 */
export function* inDependencyOrder<T>(
  nodes: ReadonlySet<T>,
  dependencies: (node: T) => Iterator<T>,
  step: () => boolean,
): Steps<T[][]> {
  const groups: T[][] = [];
  const visits = new Map<T, Visit<T>>();
  /** Visited, and not yet in a group. */
  const open: T[] = [];
  const isOpen = new Set<T>();
  const begin = (node: T): Visit<T> => {
    const visit = { node, next: dependencies(node), index: visits.size, low: visits.size };
    visits.set(node, visit);
    open.push(node);
    isOpen.add(node);
    return visit;
  };
  for (const root of nodes) {
    if (visits.has(root)) continue;
    const path = [begin(root)];
    while (path.length > 0) {
      const visit = path.at(-1)!;
      const { done, value } = visit.next.next();
      if (step()) yield;
      if (!done) {
        if (!nodes.has(value)) continue;
        const known = visits.get(value);
        if (!known) path.push(begin(value));
        else if (isOpen.has(value)) visit.low = Math.min(visit.low, known.index);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent) parent.low = Math.min(parent.low, visit.low);
      if (visit.low === visit.index) groups.push(closed(visit.node, open, isOpen));
    }
  }
  return groups;
}

function closed<T>(first: T, open: T[], isOpen: Set<T>): T[] {
  const group = open.splice(open.lastIndexOf(first));
  for (const node of group) isOpen.delete(node);
  return group;
}
