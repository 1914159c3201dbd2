/** Macros of the extension libraries: two variables, optionals, sortBy, math, and the test-only `cel.block`. */

import { Double } from '../values/values.ts';
import { accumulator, build } from './ast.ts';
import type { Expr } from './ast.ts';
import { LexicalError } from './source.ts';
import { isNamespace, macroKey, simpleName } from './macro.ts';
import type { Macro, Macros } from './macro.ts';
import { bind, loopMacro, loops } from './macros.ts';

const { call, constant, ident, list, map } = build;

function insertLoop(at: number, inserted: readonly Expr[], filter?: Expr): ReturnType<typeof loops.all> {
  const result = ident(at, accumulator);
  const insert = call(at, 'cel.@mapInsert', [result, ...inserted]);
  return {
    accuInit: map(at, []),
    condition: constant(at, true),
    step: filter === undefined ? insert : call(at, '_?_:_', [filter, insert, result]),
    result,
  };
}

const transformMap =
  (filtered: boolean): Macro =>
  (at, args, target) => {
    const key = ident(at, simpleName(args[0]!));
    const make = (value: Expr, filter?: Expr) => insertLoop(at, [key, value], filter);
    return loopMacro(2, (_, [a, b]) => (filtered ? make(b!, a) : make(a!)))(at, args, target);
  };

export const twoVariableMacros: Macros = new Map<string, Macro>([
  [macroKey('all', 3, true), loopMacro(2, (at, [p]) => loops.all(at, p!))],
  [macroKey('exists', 3, true), loopMacro(2, (at, [p]) => loops.exists(at, p!))],
  [macroKey('existsOne', 3, true), loopMacro(2, (at, [p]) => loops.existsOne(at, p!))],
  [macroKey('exists_one', 3, true), loopMacro(2, (at, [p]) => loops.existsOne(at, p!))],
  [macroKey('transformList', 3, true), loopMacro(2, (at, [value]) => loops.collect(at, value!))],
  [macroKey('transformList', 4, true), loopMacro(2, (at, [filter, value]) => loops.collect(at, value!, filter))],
  [macroKey('transformMap', 3, true), transformMap(false)],
  [macroKey('transformMap', 4, true), transformMap(true)],
  [macroKey('transformMapEntry', 3, true), loopMacro(2, (at, [entry]) => insertLoop(at, [entry!]))],
  [macroKey('transformMapEntry', 4, true), loopMacro(2, (at, [filter, entry]) => insertLoop(at, [entry!], filter))],
]);

/** `x.optMap(v, e)`: e with v bound to the value, when there is one. */
const optMap =
  (wrap: boolean): Macro =>
  (at, [variable, body], target) => {
    const bound = bind(at, simpleName(variable!), call(at, 'value', [], target), body!);
    const present = wrap ? call(at, 'optional.of', [bound]) : bound;
    return call(at, '_?_:_', [call(at, 'hasValue', [], target), present, call(at, 'optional.none', [])]);
  };

export const optionalMacros: Macros = new Map<string, Macro>([
  [macroKey('optMap', 2, true), optMap(true)],
  [macroKey('optFlatMap', 2, true), optMap(false)],
]);

const sortInput = '@__sortBy_input__';

export const listMacros: Macros = new Map<string, Macro>([
  [
    macroKey('sortBy', 2, true),
    (at, args, target) => {
      const input = ident(at, sortInput);
      const keys = loopMacro(1, (_, [key]) => loops.collect(at, key!))(at, args, input)!;
      return bind(at, sortInput, target!, call(at, '@sortByAssociatedKeys', [keys], input));
    },
  ],
]);

/** `math.greatest(a, b, …)`: any number of arguments, which a declaration cannot express. */
const extremum =
  (name: string, fn: string): Macro =>
  (at, args, target) => {
    if (!isNamespace(target, 'math')) return undefined;
    if (args.length === 0) throw new LexicalError(at, `${name}() requires at least one argument`);
    for (const argument of args) {
      const wrong =
        (argument.kind === 'const' &&
          !['number', 'bigint'].includes(typeof argument.value) &&
          !isBoxedNumber(argument.value)) ||
        argument.kind === 'map' ||
        argument.kind === 'struct' ||
        (argument.kind === 'list' && args.length > 1);
      if (wrong) throw new LexicalError(argument.offset, `${name}() invalid argument`);
    }
    if (args.length === 1 || args.length === 2) return call(at, fn, args);
    return call(at, fn, [
      list(
        at,
        args.map((value) => ({ value, optional: false })),
      ),
    ]);
  };

const isBoxedNumber = (value: unknown): boolean =>
  value instanceof Double || (value as { typeName?: string } | null)?.typeName === 'uint';

export const mathMacros: Macros = new Map<string, Macro>([
  [macroKey('greatest', '*', true), extremum('math.greatest', 'math.@max')],
  [macroKey('least', '*', true), extremum('math.least', 'math.@min')],
]);

/** `cel.block([…], e)` of the conformance tests: each element is bound in turn as `cel.index(n)`. */
export const blockMacros: Macros = new Map<string, Macro>([
  [
    macroKey('block', 2, true),
    (at, [values, body], target) => {
      if (!isNamespace(target, 'cel') || values?.kind !== 'list') return undefined;
      return values.elements.reduceRight<Expr>(
        (inner, { value }, index) => bind(at, `@index${index}`, value, inner),
        body!,
      );
    },
  ],
  [
    macroKey('index', 1, true),
    (at, [n], target) => (isNamespace(target, 'cel') ? ident(at, `@index${literal(n!)}`) : undefined),
  ],
  [
    macroKey('iterVar', 2, true),
    (at, [a, b], target) => (isNamespace(target, 'cel') ? ident(at, `@it:${literal(a!)}:${literal(b!)}`) : undefined),
  ],
  [
    macroKey('accuVar', 2, true),
    (at, [a, b], target) => (isNamespace(target, 'cel') ? ident(at, `@ac:${literal(a!)}:${literal(b!)}`) : undefined),
  ],
]);

function literal(expr: Expr): string {
  if (expr.kind !== 'const' || typeof expr.value !== 'number')
    throw new LexicalError(expr.offset, 'cel.block needs literal indices');
  return String(expr.value);
}
