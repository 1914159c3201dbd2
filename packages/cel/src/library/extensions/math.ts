/** math.greatest, least, rounding, signs, bits. Not part of Kubernetes' environment. */

import { fail, noSuchOverload } from '../../errors.ts';
import { overload } from '../../environment.ts';
import type { Library, Overload } from '../../environment.ts';
import { mathMacros } from '../../syntax/macros-extended.ts';
import * as t from '../../types.ts';
import { compareNumbers, isNumeric } from '../../values/equality.ts';
import { canonical, negateInt, toInt } from '../../values/integers.ts';
import type { CelList } from '../../values/list.ts';
import { Double, Uint } from '../../values/values.ts';
import type { CelInt, CelValue } from '../../values/values.ts';

const { intType: int, uintType: uint, doubleType: double, boolType: bool } = t;
const numbers = { int, uint, double } as const;

/** Returns the first of equal values; NaN is never better. */
function best(values: readonly CelValue[], sign: number): CelValue {
  if (values.length === 0) fail('math extremum of an empty list');
  return values.reduce((a, b) => {
    if (!isNumeric(a) || !isNumeric(b)) return noSuchOverload();
    return compareNumbers(b, a) * sign > 0 ? b : a;
  }, values[0]!);
}

function extremum(name: string, sign: number): Overload[] {
  const pairs = Object.entries(numbers).flatMap(([left, a]) =>
    Object.entries(numbers).map(([right, b]) =>
      overload(`math_@${name}_${left}_${right}`, [a, b], left === right ? a : t.dynType, (x: CelValue, y: CelValue) =>
        best([x, y], sign),
      ),
    ),
  );
  const single = Object.entries(numbers).map(([kind, type]) =>
    overload(`math_@${name}_${kind}`, [type], type, (value: CelValue) => best([value], sign)),
  );
  const lists = Object.entries(numbers).map(([kind, type]) =>
    overload(`math_@${name}_list_${kind}`, [t.listOf(type)], type, (list: CelList) => best(list.toArray(), sign)),
  );
  return [...single, ...pairs, ...lists];
}

const rounding = (name: string, round: (value: number) => number): Overload[] => [
  overload(`math_${name}_double`, [double], double, ({ value }: Double) => new Double(round(value))),
];

/** Rounds halves away from zero; values too large to have a fraction stay. */
function roundHalfAway(value: number): number {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 52) return value;
  const below = Math.trunc(value);
  return Math.abs(value - below) >= 0.5 ? below + Math.sign(value) : below;
}

const bits = (id: string, run: (a: bigint, b: bigint) => bigint): Overload[] => [
  overload(`math_${id}_int_int`, [int, int], int, (a: CelInt, b: CelInt) =>
    canonical(BigInt.asIntN(64, run(BigInt(a), BigInt(b)))),
  ),
  overload(
    `math_${id}_uint_uint`,
    [uint, uint],
    uint,
    (a: Uint, b: Uint) => new Uint(BigInt.asUintN(64, run(a.value, b.value))),
  ),
];

function shift(id: string, run: (a: bigint, by: bigint) => bigint): Overload[] {
  const amount = (by: CelInt): bigint => {
    if (by < 0) fail(`math.${id}() negative offset: ${by}`);
    return by > 63 ? 64n : BigInt(by);
  };
  return [
    overload(`math_${id}_int_int`, [int, int], int, (a: CelInt, by: CelInt) =>
      canonical(BigInt.asIntN(64, run(BigInt.asUintN(64, BigInt(a)), amount(by)))),
    ),
    overload(
      `math_${id}_uint_int`,
      [uint, int],
      uint,
      (a: Uint, by: CelInt) => new Uint(BigInt.asUintN(64, run(a.value, amount(by)))),
    ),
  ];
}

const absolute = (a: CelInt): CelInt => (a < 0 ? (typeof a === 'number' ? negateInt(a) : toInt(-a)) : a);

export const math: Library = {
  name: 'math',
  macros: mathMacros,
  functions: {
    'math.@max': extremum('max', 1),
    'math.@min': extremum('min', -1),
    'math.ceil': rounding('ceil', Math.ceil),
    'math.floor': rounding('floor', Math.floor),
    'math.trunc': rounding('trunc', Math.trunc),
    'math.round': rounding('round', roundHalfAway),
    'math.sqrt': [
      overload('math_sqrt_double', [double], double, ({ value }: Double) => new Double(Math.sqrt(value))),
      overload('math_sqrt_int', [int], double, (value: CelInt) => new Double(Math.sqrt(Number(value)))),
      overload('math_sqrt_uint', [uint], double, ({ value }: Uint) => new Double(Math.sqrt(Number(value)))),
    ],
    'math.abs': [
      overload('math_abs_double', [double], double, ({ value }: Double) => new Double(Math.abs(value))),
      overload('math_abs_int', [int], int, absolute),
      overload('math_abs_uint', [uint], uint, (value: Uint) => value),
    ],
    'math.sign': [
      overload('math_sign_double', [double], double, ({ value }: Double) => new Double(Math.sign(value) + 0)),
      overload('math_sign_int', [int], int, (value: CelInt) => (value > 0 ? 1 : value < 0 ? -1 : 0)),
      overload('math_sign_uint', [uint], uint, ({ value }: Uint) => new Uint(value > 0n ? 1n : 0n)),
    ],
    'math.isNaN': [overload('math_isNaN_double', [double], bool, ({ value }: Double) => Number.isNaN(value))],
    'math.isInf': [overload('math_isInf_double', [double], bool, ({ value }: Double) => Math.abs(value) === Infinity)],
    'math.isFinite': [overload('math_isFinite_double', [double], bool, ({ value }: Double) => Number.isFinite(value))],
    'math.bitAnd': bits('bitAnd', (a, b) => a & b),
    'math.bitOr': bits('bitOr', (a, b) => a | b),
    'math.bitXor': bits('bitXor', (a, b) => a ^ b),
    'math.bitNot': [
      overload('math_bitNot_int', [int], int, (a: CelInt) => canonical(~BigInt(a))),
      overload('math_bitNot_uint', [uint], uint, ({ value }: Uint) => new Uint(BigInt.asUintN(64, ~value))),
    ],
    'math.bitShiftLeft': shift('bitShiftLeft', (a, by) => a << by),
    'math.bitShiftRight': shift('bitShiftRight', (a, by) => a >> by),
  },
};
