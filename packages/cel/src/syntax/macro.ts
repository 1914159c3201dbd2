/** Macros: calls that the parser replaces by another tree, found by name, arity and whether they have a target. */

import type { Expr } from './ast.ts';
import { LexicalError } from './source.ts';

/** Returns the replacement; undefined if the macro does not apply: then it stays a call. */
export type Macro = (offset: number, args: readonly Expr[], target: Expr | undefined) => Expr | undefined;
export type Macros = ReadonlyMap<string, Macro>;

/** `'*'` matches any number of arguments. */
export function macroKey(name: string, args: number | '*', target: boolean): string {
  return `${name}/${args}${target ? '.' : ''}`;
}

/** Returns the name of an argument that must be a plain identifier. */
export function simpleName(expr: Expr): string {
  if (expr.kind !== 'ident' || expr.name.startsWith('.'))
    throw new LexicalError(expr.offset, 'argument must be a simple name');
  return expr.name;
}

export function isNamespace(target: Expr | undefined, name: string): boolean {
  return target?.kind === 'ident' && target.name === name;
}
