/** `int(x)`, `string(x)`, … : each fails when the value does not fit, none rounds silently except double to int. */

import { fail, notConvertible } from '../../errors.ts';
import { overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import * as t from '../../types.ts';
import { canonical, toInt, toUint } from '../../values/integers.ts';
import { formatDouble } from '../../values/text.ts';
import {
  durationOf,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  splitNanos,
  timestampOf,
} from '../../values/time.ts';
import { Double, TypeValue, typeNameOf } from '../../values/values.ts';
import type { CelInt, CelValue, Duration, Timestamp, Uint } from '../../values/values.ts';
import { allocate } from '../../work.ts';

const same = <Value extends CelValue>(value: Value): Value => value;
const A = t.param('A');
const {
  boolType: bool,
  bytesType: bytes,
  doubleType: double,
  durationType: duration,
  intType: int,
  stringType: string,
  timestampType: timestamp,
  uintType: uint,
} = t;

function parseInteger(text: string, what: string): bigint {
  if (!/^[+-]?\d+$/.test(text) || text.length > 32) notConvertible(what);
  return BigInt(text.replace(/^\+/, ''));
}

function doubleToInt(value: number): CelInt {
  // The bounds themselves are not exact doubles inside the range: Go refuses both.
  if (!(value > -9223372036854775808 && value < 9223372036854775808)) fail('integer overflow');
  return canonical(BigInt(Math.trunc(value)));
}

function doubleToUint(value: number): Uint {
  if (!(value >= 0 && value < 18446744073709551616)) fail('unsigned integer overflow');
  return toUint(BigInt(Math.trunc(value)));
}

function parseDouble(text: string): Double {
  if (/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text)))
    return new Double(Number(text));
  const special = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i.exec(text);
  if (!special) return notConvertible('double');
  return new Double(special[2] === undefined ? NaN : special[1] === '-' ? -Infinity : Infinity);
}

const truths: Readonly<Record<string, boolean>> = Object.assign(Object.create(null), {
  ...Object.fromEntries(['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false])),
});

function decodeUtf8(value: Uint8Array): string {
  allocate(2 * value.length);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    return fail('invalid UTF-8 in bytes, cannot convert to string');
  }
}

function encodeUtf8(text: string): Uint8Array {
  allocate(4 * text.length);
  return new Uint8Array(Buffer.from(text, 'utf8'));
}

export const conversions: Library = {
  name: 'conversions',
  types: [
    bool,
    bytes,
    double,
    duration,
    int,
    string,
    timestamp,
    uint,
    t.nullType,
    t.listOf(t.dynType),
    t.mapOf(t.dynType, t.dynType),
    t.typeOf(t.dynType),
  ],
  functions: {
    int: [
      overload('int64_to_int64', [int], int, same),
      overload('uint64_to_int64', [uint], int, (a: Uint) => toInt(a.value)),
      overload('double_to_int64', [double], int, (a: Double) => doubleToInt(a.value)),
      overload('string_to_int64', [string], int, (a: string) =>
        toInt(parseInteger(a, 'int'), "type conversion error from 'string' to 'int'"),
      ),
      overload('timestamp_to_int64', [timestamp], int, (a: Timestamp) => splitNanos(a.nanos).seconds),
      overload('duration_to_int64', [duration], int, (a: Duration) => canonical(a.nanos)),
    ],
    uint: [
      overload('uint64_to_uint64', [uint], uint, same),
      overload('int64_to_uint64', [int], uint, (a: CelInt) => toUint(BigInt(a))),
      overload('double_to_uint64', [double], uint, (a: Double) => doubleToUint(a.value)),
      overload('string_to_uint64', [string], uint, (a: string) =>
        toUint(/^[+-]/.test(a) ? -1n : parseInteger(a, 'uint'), "type conversion error from 'string' to 'uint'"),
      ),
    ],
    double: [
      overload('double_to_double', [double], double, same),
      overload('int64_to_double', [int], double, (a: CelInt) => new Double(Number(a))),
      overload('uint64_to_double', [uint], double, (a: Uint) => new Double(Number(a.value))),
      overload('string_to_double', [string], double, parseDouble),
    ],
    bool: [
      overload('bool_to_bool', [bool], bool, same),
      overload('string_to_bool', [string], bool, (a: string) => truths[a] ?? notConvertible('bool')),
    ],
    string: [
      overload('string_to_string', [string], string, same),
      overload('bool_to_string', [bool], string, String),
      overload('int64_to_string', [int], string, String),
      overload('uint64_to_string', [uint], string, (a: Uint) => String(a.value)),
      overload('double_to_string', [double], string, (a: Double) => formatDouble(a.value, 6)),
      overload('bytes_to_string', [bytes], string, decodeUtf8),
      overload('timestamp_to_string', [timestamp], string, formatTimestamp),
      overload('duration_to_string', [duration], string, formatDuration),
    ],
    bytes: [overload('bytes_to_bytes', [bytes], bytes, same), overload('string_to_bytes', [string], bytes, encodeUtf8)],
    timestamp: [
      overload('timestamp_to_timestamp', [timestamp], timestamp, same),
      overload('string_to_timestamp', [string], timestamp, parseTimestamp),
      overload('int64_to_timestamp', [int], timestamp, (a: CelInt) => timestampOf(BigInt(a) * 1_000_000_000n)),
    ],
    duration: [
      overload('duration_to_duration', [duration], duration, same),
      overload('string_to_duration', [string], duration, parseDuration),
      overload('int64_to_duration', [int], duration, (a: CelInt) => durationOf(BigInt(a))),
    ],
    dyn: [overload('to_dyn', [A], t.dynType, same)],
    type: [overload('type', [A], t.typeOf(A), (a: CelValue) => new TypeValue(typeNameOf(a)))],
  },
};
