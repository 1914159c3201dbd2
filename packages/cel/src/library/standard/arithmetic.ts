/** `+ - * / %` and negation: ints and uints fail on overflow, doubles follow IEEE 754. */

import { fail } from '../../errors.ts';
import { overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import * as t from '../../types.ts';
import { addInt, divideInt, multiplyInt, negateInt, remainderInt, subtractInt, toUint } from '../../values/integers.ts';
import type { CelList } from '../../values/list.ts';
import { limited } from '../../values/text.ts';
import { durationOf, timestampOf } from '../../values/time.ts';
import { Double, Uint } from '../../values/values.ts';
import type { Duration, Timestamp } from '../../values/values.ts';
import { allocate } from '../../work.ts';

const same = (type: t.Type): [t.Type, t.Type] => [type, type];
const { intType: int, uintType: uint, doubleType: double, timestampType: timestamp, durationType: duration } = t;

export const arithmetic: Library = {
  name: 'arithmetic',
  functions: {
    '_+_': [
      overload('add_int64', same(int), int, addInt),
      overload('add_uint64', same(uint), uint, (a: Uint, b: Uint) => toUint(a.value + b.value)),
      overload('add_double', same(double), double, (a: Double, b: Double) => new Double(a.value + b.value)),
      overload('add_string', same(t.stringType), t.stringType, (a: string, b: string) => {
        limited(a.length + b.length);
        allocate(a.length + b.length);
        return a + b;
      }),
      overload('add_bytes', same(t.bytesType), t.bytesType, (a: Uint8Array, b: Uint8Array) => {
        limited(a.length + b.length);
        allocate(a.length + b.length);
        return concatBytes(a, b);
      }),
      overload('add_list', same(t.listOf(t.param('A'))), t.listOf(t.param('A')), (a: CelList, b: CelList) =>
        a.concat(b),
      ),
      overload('add_timestamp_duration', [timestamp, duration], timestamp, (a: Timestamp, b: Duration) =>
        timestampOf(a.nanos + b.nanos),
      ),
      overload('add_duration_timestamp', [duration, timestamp], timestamp, (a: Duration, b: Timestamp) =>
        timestampOf(a.nanos + b.nanos),
      ),
      overload('add_duration_duration', same(duration), duration, (a: Duration, b: Duration) =>
        durationOf(a.nanos + b.nanos),
      ),
    ],
    '_-_': [
      overload('subtract_int64', same(int), int, subtractInt),
      overload('subtract_uint64', same(uint), uint, (a: Uint, b: Uint) => toUint(a.value - b.value)),
      overload('subtract_double', same(double), double, (a: Double, b: Double) => new Double(a.value - b.value)),
      overload('subtract_timestamp_timestamp', same(timestamp), duration, (a: Timestamp, b: Timestamp) =>
        durationOf(a.nanos - b.nanos),
      ),
      overload('subtract_timestamp_duration', [timestamp, duration], timestamp, (a: Timestamp, b: Duration) =>
        timestampOf(a.nanos - b.nanos),
      ),
      overload('subtract_duration_duration', same(duration), duration, (a: Duration, b: Duration) =>
        durationOf(a.nanos - b.nanos),
      ),
    ],
    '_*_': [
      overload('multiply_int64', same(int), int, multiplyInt),
      overload('multiply_uint64', same(uint), uint, (a: Uint, b: Uint) => toUint(a.value * b.value)),
      overload('multiply_double', same(double), double, (a: Double, b: Double) => new Double(a.value * b.value)),
    ],
    '_/_': [
      overload('divide_int64', same(int), int, divideInt),
      overload('divide_uint64', same(uint), uint, (a: Uint, b: Uint) =>
        b.value === 0n ? fail('division by zero') : new Uint(a.value / b.value),
      ),
      overload('divide_double', same(double), double, (a: Double, b: Double) => new Double(a.value / b.value)),
    ],
    '_%_': [
      overload('modulo_int64', same(int), int, remainderInt),
      overload('modulo_uint64', same(uint), uint, (a: Uint, b: Uint) =>
        b.value === 0n ? fail('modulus by zero') : new Uint(a.value % b.value),
      ),
    ],
    '-_': [
      overload('negate_int64', [int], int, negateInt),
      overload('negate_double', [double], double, (a: Double) => new Double(-a.value)),
    ],
  },
};

function concatBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
