/**
 * Visits every node of an expression once, parents first. Macros use one operand in several places, and visiting each place would make
 * nested macros cost exponentially.
 */

import { work } from '../work.ts';
import type { Expr } from './ast.ts';

const nsPerNode = 100;

/** `visit` returns whether to continue below the node. */
export function walk(root: Expr, visit: (node: Expr) => boolean): void {
  const seen = new Set<Expr>();
  const go = (node: Expr): void => {
    if (seen.has(node)) return;
    seen.add(node);
    work(nsPerNode);
    if (visit(node)) for (const child of childrenOf(node)) go(child);
  };
  go(root);
}

function childrenOf(node: Expr): readonly Expr[] {
  switch (node.kind) {
    case 'select':
      return [node.operand];
    case 'call':
      return node.target === undefined ? node.args : [node.target, ...node.args];
    case 'list':
      return node.elements.map(({ value }) => value);
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return node.fields.map(({ value }) => value);
    case 'comprehension':
      return [node.range, node.accuInit, node.condition, node.step, node.result];
    default:
      return [];
  }
}
