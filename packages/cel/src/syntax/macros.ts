/** The macros of the standard library, and `cel.bind`. The trees are those of the CEL specification. */

import { accumulator, build } from './ast.ts';
import type { Comprehension, Expr } from './ast.ts';
import { LexicalError } from './source.ts';
import { isNamespace, macroKey, simpleName } from './macro.ts';
import type { Macro, Macros } from './macro.ts';

const { call, comprehension, constant, ident, list, select } = build;

/** One iteration variable, or two; both must be simple names and different from each other and the accumulator. */
export function iterationVariables(args: readonly Expr[]): { iterVar: string; iterVar2: string | undefined } {
  const names = args.map(simpleName);
  const [iterVar = '', iterVar2] = names;
  for (const [index, name] of names.entries()) {
    const offset = args[index]!.offset;
    if (name === accumulator || name === '__result__')
      throw new LexicalError(offset, 'iteration variable overwrites accumulator variable');
    if (index > 0 && name === iterVar) throw new LexicalError(offset, `duplicate variable name: ${name}`);
  }
  return { iterVar, iterVar2 };
}

type Loop = Pick<Comprehension, 'accuInit' | 'condition' | 'step' | 'result'>;

const result = (at: number): Expr => ident(at, accumulator);
const appended = (at: number, value: Expr): Expr =>
  call(at, '_+_', [result(at), list(at, [{ value, optional: false }])]);
const when = (at: number, condition: Expr, then: Expr): Expr => call(at, '_?_:_', [condition, then, result(at)]);

export const loops = {
  all: (at: number, predicate: Expr): Loop => ({
    accuInit: constant(at, true),
    condition: call(at, '@not_strictly_false', [result(at)]),
    step: call(at, '_&&_', [result(at), predicate]),
    result: result(at),
  }),
  exists: (at: number, predicate: Expr): Loop => ({
    accuInit: constant(at, false),
    condition: call(at, '@not_strictly_false', [call(at, '!_', [result(at)])]),
    step: call(at, '_||_', [result(at), predicate]),
    result: result(at),
  }),
  existsOne: (at: number, predicate: Expr): Loop => ({
    accuInit: constant(at, 0),
    condition: constant(at, true),
    step: when(at, predicate, call(at, '_+_', [result(at), constant(at, 1)])),
    result: call(at, '_==_', [result(at), constant(at, 1)]),
  }),
  collect: (at: number, value: Expr, filter?: Expr): Loop => ({
    accuInit: list(at, []),
    condition: constant(at, true),
    step: filter === undefined ? appended(at, value) : when(at, filter, appended(at, value)),
    result: result(at),
  }),
};

/** A macro over a target with `variables` names first, then the arguments of `loop`. */
export function loopMacro(variables: number, loop: (at: number, args: readonly Expr[]) => Loop): Macro {
  return (at, args, target) =>
    comprehension(at, {
      range: target!,
      ...iterationVariables(args.slice(0, variables)),
      accuVar: accumulator,
      ...loop(at, args.slice(variables)),
    });
}

const has: Macro = (at, [argument]) => {
  if (argument?.kind !== 'select' || argument.testOnly)
    throw new LexicalError(argument?.offset ?? at, 'invalid argument to has() macro');
  return select(at, argument.operand, argument.field, true);
};

/** `variable = value; body`, as a comprehension over an empty list, which is a let in CEL. */
export function bind(at: number, variable: string, value: Expr, body: Expr): Expr {
  return comprehension(at, {
    range: list(at, []),
    iterVar: '#unused',
    accuVar: variable,
    accuInit: value,
    condition: constant(at, false),
    step: ident(at, variable),
    result: body,
  });
}

export const standardMacros: Macros = new Map<string, Macro>([
  [macroKey('has', 1, false), has],
  [macroKey('all', 2, true), loopMacro(1, (at, [p]) => loops.all(at, p!))],
  [macroKey('exists', 2, true), loopMacro(1, (at, [p]) => loops.exists(at, p!))],
  [macroKey('exists_one', 2, true), loopMacro(1, (at, [p]) => loops.existsOne(at, p!))],
  [macroKey('existsOne', 2, true), loopMacro(1, (at, [p]) => loops.existsOne(at, p!))],
  [macroKey('map', 2, true), loopMacro(1, (at, [value]) => loops.collect(at, value!))],
  [macroKey('map', 3, true), loopMacro(1, (at, [filter, value]) => loops.collect(at, value!, filter))],
  [
    macroKey('filter', 2, true),
    (at, args, target) =>
      loopMacro(1, (_, [filter]) => loops.collect(at, ident(at, simpleName(args[0]!)), filter))(at, args, target),
  ],
]);

export const bindMacros: Macros = new Map<string, Macro>([
  [
    macroKey('bind', 3, true),
    (at, [variable, value, body], target) =>
      isNamespace(target, 'cel') ? bind(at, simpleName(variable!), value!, body!) : undefined,
  ],
]);
