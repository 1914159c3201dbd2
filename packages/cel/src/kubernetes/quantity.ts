/** quantity(), isQuantity() and what quantities can do. */

import { fail } from '../errors.ts';
import { method, overload } from '../environment.ts';
import type { Library } from '../environment.ts';
import * as t from '../types.ts';
import { canonical } from '../values/integers.ts';
import { Double } from '../values/values.ts';
import type { CelInt } from '../values/values.ts';
import { integerQuantity, parseQuantity } from './quantity-value.ts';
import type { Quantity } from './quantity-value.ts';

export const quantityType = t.opaque('kubernetes.Quantity');
const two = [quantityType, quantityType];
const message = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

export const quantities: Library = {
  name: 'kubernetes quantity',
  types: [quantityType],
  functions: {
    quantity: [
      overload(
        'string_to_quantity',
        [t.stringType],
        quantityType,
        (text: string) => parseQuantity(text) ?? fail(message),
      ),
    ],
    isQuantity: [
      overload('is_quantity_string', [t.stringType], t.boolType, (text: string) => parseQuantity(text) !== undefined),
    ],
    sign: [
      overload('quantity_sign', [quantityType], t.intType, ({ nanos }: Quantity) =>
        nanos > 0n ? 1 : nanos < 0n ? -1 : 0,
      ),
    ],
    isGreaterThan: [
      method('quantity_is_greater_than', two, t.boolType, (a: Quantity, b: Quantity) => a.compare(b) > 0),
    ],
    isLessThan: [method('quantity_is_less_than', two, t.boolType, (a: Quantity, b: Quantity) => a.compare(b) < 0)],
    compareTo: [method('quantity_compare_to', two, t.intType, (a: Quantity, b: Quantity) => a.compare(b))],
    asApproximateFloat: [
      method('quantity_get_float', [quantityType], t.doubleType, (a: Quantity) => new Double(a.asApproximateFloat())),
    ],
    asInteger: [
      method('quantity_get_int', [quantityType], t.intType, (a: Quantity) => {
        const value = a.asInteger();
        return value === undefined ? fail('cannot convert value to integer') : canonical(value);
      }),
    ],
    isInteger: [
      method('quantity_is_integer', [quantityType], t.boolType, (a: Quantity) => a.asInteger() !== undefined),
    ],
    add: [
      method('quantity_add', two, quantityType, (a: Quantity, b: Quantity) => a.add(b)),
      method('quantity_add_int', [quantityType, t.intType], quantityType, (a: Quantity, b: CelInt) =>
        a.add(integerQuantity(BigInt(b))),
      ),
    ],
    sub: [
      method('quantity_sub', two, quantityType, (a: Quantity, b: Quantity) => a.add(b.negated())),
      method('quantity_sub_int', [quantityType, t.intType], quantityType, (a: Quantity, b: CelInt) =>
        a.add(integerQuantity(-BigInt(b))),
      ),
    ],
  },
};
