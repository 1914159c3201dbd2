/** Operators with specialized code, because rules consist of them: equality, order, int arithmetic, membership. */

import { noSuchOverload } from '../errors.ts';
import { addInt, divideInt, multiplyInt, remainderInt, subtractInt } from '../values/integers.ts';
import { compare, equal } from '../values/equality.ts';
import type { CelInt, CelValue } from '../values/values.ts';
import type { Type } from '../types.ts';
import { equalityCost } from '../cost/sizes.ts';
import type { Code } from './frame.ts';

const scalarKinds = new Set(['bool', 'int', 'uint', 'double', 'timestamp', 'duration', 'null']);

export function equality(
  wanted: boolean,
  left: Code,
  right: Code,
  types: readonly [Type | undefined, Type | undefined],
): Code {
  const scalar = types.every((type) => type !== undefined && scalarKinds.has(type.kind));
  if (scalar) {
    return (frame) => {
      const a = left(frame);
      const b = right(frame);
      frame.charge(1);
      return (typeof a === 'object' || typeof b === 'object' ? equal(a, b) : a === b) === wanted;
    };
  }
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    frame.charge(equalityCost(a, b));
    return (typeof a === 'string' && typeof b === 'string' ? a === b : equal(a, b)) === wanted;
  };
}

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '_<_': (order) => order < 0,
  '_<=_': (order) => order <= 0,
  '_>_': (order) => order > 0,
  '_>=_': (order) => order >= 0,
};

/** Comparisons if both sides are statically ints; a null in the data is not an int. */
const intOrders: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '_<_': (a, b) => a < b,
  '_<=_': (a, b) => a <= b,
  '_>_': (a, b) => a > b,
  '_>=_': (a, b) => a >= b,
};

export function intOrder(fn: string, left: Code, right: Code): Code | undefined {
  const test = intOrders[fn];
  const slow = orders[fn];
  if (test === undefined || slow === undefined) return undefined;
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    frame.charge(1);
    return typeof a === 'number' && typeof b === 'number' ? test(a, b) : slow(compare(a, b));
  };
}

const intOperators: Readonly<Record<string, (a: CelInt, b: CelInt) => CelInt>> = {
  '_+_': addInt,
  '_-_': subtractInt,
  '_*_': multiplyInt,
  '_/_': divideInt,
  '_%_': remainderInt,
};

const isInt = (value: CelValue): value is CelInt => typeof value === 'number' || typeof value === 'bigint';

export function intArithmetic(fn: string, left: Code, right: Code): Code | undefined {
  const operator = intOperators[fn];
  if (operator === undefined) return undefined;
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    frame.charge(1);
    return isInt(a) && isInt(b) ? operator(a, b) : noSuchOverload();
  };
}
