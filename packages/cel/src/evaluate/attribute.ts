/** Attributes: expressions that are paths into variables (or into a computed value). */

import type { Call, Expr } from '../syntax/ast.ts';

export function isAttributeCall(node: Call): boolean {
  return node.fn === '_[_]' || node.fn === '_?._' || node.fn === '_[?_]' || node.fn === '_?_:_';
}

export function isAttribute(node: Expr): boolean {
  return node.kind === 'ident' || node.kind === 'select' || (node.kind === 'call' && isAttributeCall(node));
}
