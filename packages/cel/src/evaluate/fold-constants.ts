/**
 * Folds literals that need computing only once: lists and maps of constants, conversions of constants. Kubernetes' runtime costs depend on
 * it: folded constants cost nothing.
 */

import { Fault } from '../errors.ts';
import type { Environment } from '../environment.ts';
import type { Expr } from '../syntax/ast.ts';
import { ValueList } from '../values/list.ts';
import { ValueMap } from '../values/map.ts';
import type { CelValue } from '../values/values.ts';
import { work } from '../work.ts';
import { dispatch } from './dispatch.ts';

const nsPerNode = 50;

const foldable = new Set(['bool', 'bytes', 'double', 'dyn', 'duration', 'int', 'string', 'timestamp', 'type', 'uint']);

/** Returns the value of a constant expression; undefined if it must be computed each time. */
export function constantValue(node: Expr, environment: Environment): CelValue | undefined {
  work(nsPerNode);
  if (node.fault !== undefined) return undefined;
  switch (node.kind) {
    case 'const':
      return node.value;
    case 'list': {
      if (node.elements.some((element) => element.optional)) return undefined;
      const values = all(node.elements.map(({ value }) => constantValue(value, environment)));
      return values && new ValueList(values);
    }
    case 'map': {
      if (node.entries.some((entry) => entry.optional)) return undefined;
      const keys = all(node.entries.map(({ key }) => constantValue(key, environment)));
      const values = all(node.entries.map(({ value }) => constantValue(value, environment)));
      if (!keys || !values) return undefined;
      return attempt(() => new ValueMap(keys.map((key, index) => [key, values[index]!] as const)));
    }
    case 'call': {
      const [argument] = node.args;
      if (!foldable.has(node.fn) || node.target !== undefined || argument === undefined || node.args.length !== 1)
        return undefined;
      const value = constantValue(argument, environment);
      const overloads = environment.functions.get(node.fn);
      if (value === undefined || overloads === undefined) return undefined;
      return attempt(() => (dispatch(overloads, [value]).run as (value: CelValue) => CelValue)(value));
    }
    default:
      return undefined;
  }
}

function all(values: readonly (CelValue | undefined)[]): readonly CelValue[] | undefined {
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** Errors are left to the evaluation. */
function attempt(compute: () => CelValue): CelValue | undefined {
  try {
    return compute();
  } catch (thrown) {
    if (thrown instanceof Fault && !thrown.final) return undefined;
    throw thrown;
  }
}
