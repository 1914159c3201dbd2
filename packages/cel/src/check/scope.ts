/** Names in scope at a node: comprehension variables over the environment's variables, types and constants. */

import { candidateNames } from '../environment.ts';
import type { Environment } from '../environment.ts';
import type { Expr } from '../syntax/ast.ts';
import type { Type } from '../types.ts';

export class Scope {
  readonly #environment: Environment;
  readonly #locals: { readonly name: string; readonly type: Type }[] = [];

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  local(name: string): Type | undefined {
    return this.#locals.findLast((local) => local.name === name)?.type;
  }

  within<Result>(name: string, type: Type, inside: () => Result): Result {
    this.#locals.push({ name, type });
    try {
      return inside();
    } finally {
      this.#locals.pop();
    }
  }

  /** Returns the variable, constant or type of a (possibly dotted) name outside of comprehensions. */
  declared(name: string): { name: string; type: Type } | undefined {
    const { variables, constants, typeNames, container } = this.#environment;
    for (const candidate of candidateNames(container, name)) {
      const type = variables.get(candidate) ?? constants.get(candidate)?.type ?? typeNames.get(candidate);
      if (type !== undefined) return { name: candidate, type };
    }
    return undefined;
  }

  /** Returns the full name of the function with this name. */
  functionName(name: string): string | undefined {
    return candidateNames(this.#environment.container, name).find((candidate) =>
      this.#environment.functions.has(candidate),
    );
  }
}

/** Returns `a.b.c` as text, if the expression is only a qualified name. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.testOnly) return undefined;
  const operand = qualifiedName(expr.operand);
  return operand === undefined ? undefined : `${operand}.${expr.field}`;
}

export function firstName(expr: Expr): string | undefined {
  let at = expr;
  while (at.kind === 'select') at = at.operand;
  return at.kind === 'ident' ? at.name : undefined;
}
