/** Calls: operators with specialized code first, then the overload that the checker chose, then a choice at runtime. */

import { noSuchOverload } from '../errors.ts';
import type { Implementation, Overload } from '../environment.ts';
import { callCost } from '../cost/actual.ts';
import { isKnownBefore } from '../cost/sizes.ts';
import type { CallCost } from '../cost/sizes.ts';
import type { Call, Expr } from '../syntax/ast.ts';
import { CelList } from '../values/list.ts';
import { Optional } from '../values/values.ts';
import type { CelValue } from '../values/values.ts';
import { accepts, dispatch } from './dispatch.ts';
import { constantValue } from './fold-constants.ts';
import type { Code } from './frame.ts';
import { logical, notStrictlyFalse } from './logic.ts';
import { equality, intArithmetic, intOrder } from './operators.ts';
import type { Planner } from './planner.ts';
import { plainKey } from '../values/map.ts';
import type { PlainKey } from '../values/map.ts';
import { work } from '../work.ts';

type Run = (...args: CelValue[]) => CelValue;

export function planCall(planner: Planner, node: Call): Code {
  const [first, second] = node.args as [Expr, Expr];
  switch (node.fn) {
    case '_&&_':
    case '_||_':
      return logical(node.fn === '_||_', planner.plan(first), planner.plan(second));
    case '@not_strictly_false':
      return notStrictlyFalse(planner.plan(first));
    case '_==_':
    case '_!=_':
      return equality(node.fn === '_==_', planner.plan(first), planner.plan(second), [first.type, second.type]);
    case '@in':
      return membership(planner, node) ?? general(planner, node);
    case 'or':
    case 'orValue':
      if (node.target !== undefined) return optionalElse(planner, node.target, first, node.fn === 'or');
  }
  if (
    node.args.length === 2 &&
    node.target === undefined &&
    first.type?.kind === 'int' &&
    second.type?.kind === 'int'
  ) {
    const left = planner.plan(first);
    const right = planner.plan(second);
    const code = intOrder(node.fn, left, right) ?? intArithmetic(node.fn, left, right);
    if (code !== undefined) return code;
  }
  return general(planner, node);
}

/** `x in [constants]`: a set, and free of charge as in Kubernetes. */
function membership(planner: Planner, node: Call): Code | undefined {
  const [needle, haystack] = node.args as [Expr, Expr];
  const list = constantValue(haystack, planner.environment);
  if (!(list instanceof CelList)) return undefined;
  // An empty list contains nothing: the needle is not evaluated.
  if (list.size === 0) return () => false;
  const keys = list.toArray().map(plainKey);
  if (keys.some((key) => key === undefined)) return undefined;
  const members = new Set(keys as PlainKey[]);
  const code = planner.plan(needle);
  return (frame) => {
    const key = plainKey(code(frame));
    return key !== undefined && members.has(key);
  };
}

/** `x.orValue(y)` and `x.or(y)`: y is only evaluated if x has no value. */
function optionalElse(planner: Planner, target: Expr, otherwise: Expr, whole: boolean): Code {
  const left = planner.plan(target);
  const right = planner.plan(otherwise);
  return (frame) => {
    const value = left(frame);
    if (!(value instanceof Optional)) return noSuchOverload();
    if (value.value !== undefined) return whole ? value : value.value;
    const other = right(frame);
    return whole && !(other instanceof Optional) ? noSuchOverload() : other;
  };
}

function general(planner: Planner, node: Call): Code {
  const { fn, target } = node;
  const args = target === undefined ? node.args : [target, ...node.args];
  const codes = args.map((argument) => planner.plan(argument));
  const overloads = (planner.environment.functions.get(fn) ?? []).filter(
    (overload) => overload.member === (target !== undefined) && overload.params.length === args.length,
  );
  const ids = node.overloads ?? [];
  const cost = callCost(fn, ids);
  // The checker's choice first; a lenient or dynamic call may match another overload.
  const chosen = overloads.filter((overload) => ids.includes(overload.id));
  const [only] = chosen;
  if (chosen.length === 1 && only !== undefined) return single(only, codes, cost);
  const candidates = chosen.length > 0 ? chosen : overloads;
  const { before, after } = charges(cost);
  return (frame) => {
    const values = codes.map((code) => code(frame));
    const overload = dispatch(candidates, values);
    frame.charge(before(values, null));
    for (const value of values) reportArgument(value);
    const result = (overload.run as Run)(...values);
    if (after !== undefined) frame.charge(after(values, result));
    return result;
  };
}

/** The charges before and after a call: only the cost of a result is charged afterwards. */
function charges(cost: CallCost | undefined): { before: CallCost; after: CallCost | undefined } {
  if (cost === undefined) return { before: () => 1, after: undefined };
  return isKnownBefore(cost) ? { before: cost, after: undefined } : { before: () => 0, after: cost };
}

/** Reports one walk over a text. Functions that do more, and those that walk over lists, report it themselves. */
function reportArgument(value: CelValue): void {
  work(typeof value === 'string' ? nsPerCall + value.length * nsPerCharacter : nsPerCall);
}

const nsPerCall = 20;
const nsPerCharacter = 4;

/** One overload: arguments are still checked, because data may contain null against the schema. */
function single(overload: Overload, codes: readonly Code[], cost: CallCost | undefined): Code {
  const { params } = overload;
  const run = overload.run as Implementation as Run;
  const [one, two] = codes;
  const [firstParam, secondParam] = params;
  const { before, after } = charges(cost);
  if (codes.length === 1 && one !== undefined && firstParam !== undefined) {
    return (frame) => {
      const a = one(frame);
      if (!accepts(firstParam, a)) noSuchOverload();
      frame.charge(cost === undefined ? 1 : before([a], null));
      reportArgument(a);
      const result = run(a);
      if (after !== undefined) frame.charge(after([a], result));
      return result;
    };
  }
  if (codes.length === 2 && one !== undefined && two !== undefined) {
    return (frame) => {
      const a = one(frame);
      const b = two(frame);
      if (!accepts(firstParam!, a) || !accepts(secondParam!, b)) noSuchOverload();
      frame.charge(cost === undefined ? 1 : before([a, b], null));
      reportArgument(a);
      reportArgument(b);
      const result = run(a, b);
      if (after !== undefined) frame.charge(after([a, b], result));
      return result;
    };
  }
  return (frame) => {
    const values = codes.map((code) => code(frame));
    for (const [index, value] of values.entries()) if (!accepts(params[index]!, value)) noSuchOverload();
    frame.charge(before(values, null));
    for (const value of values) reportArgument(value);
    const result = run(...values);
    if (after !== undefined) frame.charge(after(values, result));
    return result;
  };
}
