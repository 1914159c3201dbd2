/**
 * An object as kube-apiserver would write it after reading it into its types: unknown fields are gone, quantities are
 * canonical, times are in UTC, nulls are what they mean, fields that are always written are there, all in Go's order.
 * The result shares nothing with the argument but what has no schema (raw values).
 */

import type { Field, StructType, ValueType } from '../builtin/types.ts';
import { ApiError, invalidValue } from '../errors.ts';
import { depthMax } from '../limits.ts';
import { formatDuration, parseDuration } from '../values/duration.ts';
import { sortKeys } from '../values/key-order.ts';
import { canonicalQuantity } from '../values/quantity.ts';
import { formatTime, parseTime, zeroTimeSeconds } from '../values/time.ts';

type JsonObject = Record<string, unknown>;

/** Throws InvalidValue where a value is not of its type (`checkFields` says it better), TooDeep. */
export function normalise(struct: StructType, object: Readonly<JsonObject>): JsonObject {
  const into: JsonObject = {};
  copyKind(struct, object, into);
  fill(struct, object, into, 1);
  return into;
}

/** Kinds within kinds, such as a stateful set's claims, have theirs too. */
function copyKind(struct: StructType, object: Readonly<JsonObject>, into: JsonObject): void {
  if (!struct.isKind) return;
  if (object['kind'] !== undefined) into['kind'] = object['kind'];
  if (object['apiVersion'] !== undefined) into['apiVersion'] = object['apiVersion'];
}

function fill(struct: StructType, object: Readonly<JsonObject>, into: JsonObject, depth: number): void {
  if (depth > depthMax) throw new ApiError('TooDeep', 'the object is nested too deeply');
  const { fields } = struct;
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    if (field.isInline) {
      fill(field.type.struct, object, into, depth);
      continue;
    }
    const given = object[field.name];
    const isAbsent = given === undefined || given === null;
    if (isAbsent && (field.isPointer || canBeNil(field.type))) {
      if (!field.omitEmpty) into[field.name] = null;
      continue;
    }
    const value = isAbsent ? zeroOf(field.type, depth) : valueOf(field.type, given, depth);
    if (isOmitted(field, value)) continue;
    into[field.name] = value;
  }
}

const canBeNil = ({ kind }: ValueType): boolean => kind === 'list' || kind === 'map' || kind === 'bytes';

/** Go omits zero texts, numbers and booleans, and empty lists and maps; never what is a struct in Go. */
function isOmitted(field: Field, value: unknown): boolean {
  if (!field.omitEmpty || field.isPointer) return false;
  switch (field.type.kind) {
    case 'string':
    case 'bytes':
      return value === '';
    case 'bool':
      return value === false;
    case 'int32':
    case 'int64':
    case 'double':
      return value === 0;
    case 'list':
      return (value as unknown[]).length === 0;
    case 'map':
      return Object.keys(value as object).length === 0;
    default:
      return field.omitZero && value === null;
  }
}

function valueOf(type: ValueType, value: unknown, depth: number): unknown {
  switch (type.kind) {
    case 'string':
      return expect(typeof value === 'string', value, type);
    case 'bool':
      return expect(typeof value === 'boolean', value, type);
    case 'int32':
    case 'int64':
    case 'double':
      return expect(typeof value === 'number', value, type);
    case 'bytes':
      expect(typeof value === 'string', value, type);
      return Buffer.from(value as string, 'base64').toString('base64');
    case 'struct':
      return structValue(type, value, depth);
    case 'list':
      expect(Array.isArray(value), value, type);
      return (value as unknown[]).map((one) => elementOf(type.element!, one, depth));
    case 'map':
      expect(isObject(value), value, type);
      return mapOf(type.element!, value as JsonObject, depth);
    case 'quantity':
      expect(typeof value === 'string' || typeof value === 'number', value, type);
      return canonicalQuantity(String(value).trim());
    case 'time':
    case 'microtime':
      expect(typeof value === 'string', value, type);
      return timeOf(value as string, type.kind === 'time' ? 'second' : 'micro');
    case 'duration':
      expect(typeof value === 'string', value, type);
      return formatDuration(parseDuration(value as string));
    case 'intorstring':
      return expect(typeof value === 'string' || Number.isInteger(value), value, type);
    default:
      return value;
  }
}

/** Objects carry the same few times through every write. */
const knownTimesMax = 512;
const knownTimes = { second: new Map<string, string | null>(), micro: new Map<string, string | null>() };

function timeOf(text: string, precision: 'second' | 'micro'): string | null {
  const known = knownTimes[precision];
  let time = known.get(text);
  if (time !== undefined) return time;
  time = canonicalTime(text, precision);
  if (known.size >= knownTimesMax) known.clear();
  known.set(text, time);
  return time;
}

function canonicalTime(text: string, precision: 'second' | 'micro'): string | null {
  const { seconds, nanos } = parseTime(text, precision);
  if (seconds === zeroTimeSeconds && nanos === 0) return null;
  return formatTime(seconds, precision, nanos) ?? text;
}

function structValue(type: ValueType, value: unknown, depth: number): unknown {
  const { struct } = type;
  if (struct.shape !== undefined) return shapeOf(struct, value, depth);
  expect(isObject(value), value, type);
  const into: JsonObject = {};
  copyKind(struct, value as JsonObject, into);
  fill(struct, value as JsonObject, into, depth + 1);
  return into;
}

function shapeOf(struct: StructType, value: unknown, depth: number): unknown {
  if (isObject(value)) return structValue(struct.fields.find(({ name }) => name === 'Schema')!.type, value, depth);
  if (struct.shape === 'or-bool') {
    if (typeof value !== 'boolean') throw invalidValue('boolean or JSON schema expected');
    return value;
  }
  if (!Array.isArray(value) || value.length === 0) return null;
  return valueOf(struct.fields.find(({ type }) => type.kind === 'list')!.type, value, depth);
}

function elementOf(type: ValueType, value: unknown, depth: number): unknown {
  return value === null || value === undefined ? zeroOf(type, depth) : valueOf(type, value, depth + 1);
}

function mapOf(element: ValueType, object: Readonly<JsonObject>, depth: number): JsonObject {
  const into: JsonObject = {};
  // Go writes maps in the order of their keys.
  for (const key of sortKeys(Object.keys(object))) {
    const value = elementOf(element, object[key], depth);
    if (key !== '__proto__') into[key] = value;
    else Object.defineProperty(into, key, { value, writable: true, enumerable: true, configurable: true });
  }
  return into;
}

function zeroOf(type: ValueType, depth: number): unknown {
  switch (type.kind) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intorstring':
      return 0;
    case 'quantity':
      return '0';
    case 'duration':
      return '0s';
    case 'struct': {
      if (type.struct.shape !== undefined) return type.struct.shape === 'or-bool' ? false : null;
      const into: JsonObject = {};
      fill(type.struct, {}, into, depth + 1);
      return into;
    }
    default:
      return null;
  }
}

function expect(condition: boolean, value: unknown, type: ValueType): unknown {
  if (!condition) throw invalidValue(`a value that is not of type ${type.goName}`);
  return value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
