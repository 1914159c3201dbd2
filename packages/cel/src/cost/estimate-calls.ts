/** Estimates of single calls: the standard library here, extensions and Kubernetes' libraries in their own files. */

import type { Call, Expr } from '../syntax/ast.ts';
import type { Type } from '../types.ts';
import type { CostEstimator } from './estimate.ts';
import { estimateExtensionCall } from './estimate-extensions.ts';
import { estimateKubernetesCall } from './estimate-kubernetes.ts';
import { add, multiply, one, scale, sum, union, unknown } from './interval.ts';
import type { Interval } from './interval.ts';
import { perCharacter, perRegexCharacter } from './sizes.ts';

export interface CallEstimate {
  readonly cost: Interval;
  /** Size of the result, if known. */
  readonly size?: Interval | undefined;
}

export interface SizedNode {
  readonly node: Expr;
  readonly type: Type;
  readonly size: Interval | undefined;
  readonly path: readonly string[];
}

export interface CallToEstimate {
  readonly node: Call;
  readonly overload: string;
  readonly target: SizedNode | undefined;
  readonly args: readonly SizedNode[];
  readonly argumentCosts: readonly Interval[];
}

export function estimateCall(estimator: CostEstimator, call: CallToEstimate): CallEstimate {
  const argumentCost = sum(call.argumentCosts);
  const own = estimateExtensionCall(call) ?? estimateKubernetesCall(estimator, call);
  if (own !== undefined) return { cost: add(own.cost, argumentCost), size: own.size };
  return standard(estimator, call, argumentCost) ?? { cost: add(one, argumentCost) };
}

const sizeOf = (node: SizedNode | undefined): Interval => node?.size ?? unknown;
const comparisons = /^(?:less|greater|less_equals|greater_equals)_(?:string|bytes)$|^(?:not_)?equals$/;

function standard(estimator: CostEstimator, call: CallToEstimate, argumentCost: Interval): CallEstimate | undefined {
  const { overload, target, args, argumentCosts, node } = call;
  const [first, second, third] = args;
  const walk = (size: Interval): Interval => add(scale(size, perCharacter), argumentCost);
  switch (overload) {
    case 'string_format':
      return { cost: walk(sizeOf(target)) };
    case 'string_to_bytes':
      return { cost: walk(sizeOf(first)), size: { min: sizeOf(first).min, max: sizeOf(first).max * 4 } };
    case 'bytes_to_string':
      return { cost: walk(sizeOf(first)), size: { min: Math.floor(sizeOf(first).min / 4), max: sizeOf(first).max } };
    case 'strings_quote':
      return { cost: walk(sizeOf(first)), size: { min: sizeOf(first).min + 2, max: sizeOf(first).max * 2 + 2 } };
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: walk(sizeOf(first)) };
    case 'in_list':
      return { cost: add(scale(sizeOf(second), 1), argumentCost) };
    case 'matches_string': {
      const text = scale(add(sizeOf(target), one), perCharacter);
      return { cost: add(multiply(text, scale(sizeOf(first), perRegexCharacter)), argumentCost) };
    }
    case 'contains_string': {
      const text = scale(sizeOf(target), perCharacter);
      return { cost: add(multiply(text, scale(sizeOf(first), perCharacter)), argumentCost) };
    }
    case 'logical_or':
    case 'logical_and':
      return { cost: { min: argumentCosts[0]!.min, max: add(argumentCosts[0]!, argumentCosts[1]!).max } };
    case 'conditional': {
      const [whenTrue, whenFalse] = [estimator.entries(node.args[1]!), estimator.entries(node.args[2]!)];
      if (whenTrue && whenFalse) estimator.setEntries(node, join(whenTrue, whenFalse));
      const cost = add(argumentCosts[0]!, union(argumentCosts[1]!, argumentCosts[2]!));
      return { cost, size: union(sizeOf(second), sizeOf(third)) };
    }
    case 'add_string':
    case 'add_bytes':
    case 'add_list': {
      const [left, right] = [estimator.entries(node.args[0]!), estimator.entries(node.args[1]!)];
      if (left && right) estimator.setEntries(node, join(left, right));
      const size = add(sizeOf(first), sizeOf(second));
      return { cost: overload === 'add_list' ? add(one, argumentCost) : walk(size), size };
    }
  }
  if (!comparisons.test(overload)) return undefined;
  const max = Math.min(sizeOf(first).max, sizeOf(second).max);
  return { cost: walk({ min: max > 0 ? 1 : 0, max }) };
}

type Entries = NonNullable<ReturnType<CostEstimator['entries']>>;

function join(a: Entries, b: Entries): Entries {
  return { kind: a.kind, key: union(a.key, b.key), value: union(a.value, b.value) };
}
