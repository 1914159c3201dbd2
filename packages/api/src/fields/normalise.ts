/**
 * Returns an object as kube-apiserver would write it after decoding it into its types: unknown fields are removed, quantities are
 * canonical, times are in UTC, nulls are replaced by their meaning, fields that are always written are present, all in Go's order. The
 * result shares only values without schema (raw values) with the argument.
 */

import type { Field, StructType, ValueType } from '../builtin/types.ts';
import { ApiError, invalidValue } from '../errors.ts';
import { depthMax } from '../limits.ts';
import { base64Problem } from './base64.ts';
import { isInteger } from './integer.ts';
import { formatDuration, parseDuration } from '../values/duration.ts';
import { sortKeys } from '../values/key-order.ts';
import { canonicalQuantity } from '../values/quantity.ts';
import { formatTime, parseTime, zeroTimeSeconds } from '../values/time.ts';

type JsonObject = Record<string, unknown>;

/** Throws InvalidValue if a value does not have its type (`checkFields` is more specific), TooDeep. */
export function normalise(struct: StructType, object: Readonly<JsonObject>): JsonObject {
  return filled(struct, object, 1, { isExact: true, sharesParts: false });
}

/** Like `normalise`, read-only: unchanged parts are shared with the argument. */
export function normaliseSharing(struct: StructType, object: Readonly<JsonObject>): Readonly<JsonObject> {
  return filled(struct, object, 1, { isExact: true, sharesParts: true });
}

/**
 * Like `normalise`, for an object that a client sent. Returns undefined if `checkFields` would report something, or might: an unknown
 * field, a value out of range. Most objects match their type, and need no second check.
 */
export function normaliseExact(struct: StructType, object: Readonly<JsonObject>): JsonObject | undefined {
  const pass: Pass = { isExact: true, sharesParts: false };
  try {
    const whole = filled(struct, object, 1, pass);
    return pass.isExact ? whole : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** State of one call of `normalise`. */
interface Pass {
  /** Nothing was found that a client's object must not have. */
  isExact: boolean;
  /** Parts that do not change are returned, not copied. */
  readonly sharesParts: boolean;
}

/** A struct's fields in Go's order, inlined ones expanded, with an index by key. */
interface Plan {
  readonly isKind: boolean;
  readonly fields: readonly Field[];
  readonly indexOf: ReadonlyMap<string, number>;
  /** Indexes of fields that Go writes although they are absent, ascending. */
  readonly written: readonly number[];
}

const plans = new WeakMap<StructType, Plan>();

function planOf(struct: StructType): Plan {
  let plan = plans.get(struct);
  if (!plan) {
    const fields = expanded(struct);
    plan = {
      isKind: struct.isKind,
      fields,
      indexOf: new Map(fields.map((field, index) => [field.name, index])),
      written: fields.flatMap((field, index) => (isWrittenWhenAbsent(field) ? [index] : [])),
    };
    plans.set(struct, plan);
  }
  return plan;
}

const expanded = ({ fields }: StructType): Field[] =>
  fields.flatMap((field) => (field.isInline ? expanded(field.type.struct) : [field]));

const isWrittenWhenAbsent = (field: Field): boolean =>
  field.isPointer || canBeNil(field.type) ? !field.omitEmpty : !isOmitted(field, zeroOf(field.type, 1));

function filled(struct: StructType, object: Readonly<JsonObject>, depth: number, pass: Pass): JsonObject {
  if (depth > depthMax) throw new ApiError('TooDeep', 'the object is nested too deeply');
  const plan = planOf(struct);
  const { fields, written } = plan;
  const indexes: number[] = [];
  const isAsGiven = collectIndexes(plan, object, indexes, pass);
  /** Undefined while the argument itself is the result. */
  let into: JsonObject | undefined = isAsGiven && pass.sharesParts && !struct.isKind ? undefined : {};
  if (into && struct.isKind) copyKind(object, into, pass);
  let next = 0;
  for (let i = 0; i < indexes.length; i++) {
    const index = indexes[i]!;
    for (; next < written.length && written[next]! < index; next++) {
      into ??= fieldsBefore(index, fields, object);
      writeAbsent(fields[written[next]!]!, into, depth);
    }
    if (written[next] === index) next++;
    const field = fields[index]!;
    const given = object[field.name];
    const value = valueOf(field.type, given, depth, pass);
    const isLeftOut = isOmitted(field, value);
    if (!into && (isLeftOut || value !== given)) into = fieldsBefore(index, fields, object);
    if (into && !isLeftOut) into[field.name] = value;
  }
  for (; next < written.length; next++) {
    into ??= fieldsBefore(fields.length, fields, object);
    writeAbsent(fields[written[next]!]!, into, depth);
  }
  return into ?? object;
}

/** Copies the fields of an object that is in Go's order, up to one of them. */
function fieldsBefore(index: number, fields: readonly Field[], object: Readonly<JsonObject>): JsonObject {
  const end = fields[index]?.name;
  const into: JsonObject = {};
  for (const key of Object.keys(object)) {
    if (key === end) break;
    into[key] = object[key];
  }
  return into;
}

/**
 * Adds the indexes of the keys that have a value and are fields, ascending. Returns whether every key is a field with a value, and all are in
 * Go's order. `for … in` neither copies the keys nor looks up the values by name; parsed objects inherit no keys.
 */
function collectIndexes(
  { isKind, indexOf }: Plan,
  object: Readonly<JsonObject>,
  indexes: number[],
  pass: Pass,
): boolean {
  let isAsGiven = true;
  for (const key in object) {
    const value = object[key];
    const index = indexOf.get(key);
    if (index === undefined) {
      if (!isKind || (key !== 'kind' && key !== 'apiVersion')) pass.isExact = false;
      isAsGiven = false;
    } else if (value === null || value === undefined) isAsGiven = false;
    else if (insertAscending(indexes, index)) isAsGiven = false;
  }
  return isAsGiven;
}

/** Returns whether the index is less than another one. Objects have few fields, most of them in order or defaulted at the end. */
function insertAscending(indexes: number[], index: number): boolean {
  let at = indexes.length;
  indexes.push(index);
  if (at === 0 || indexes[at - 1]! < index) return false;
  for (; at > 0 && indexes[at - 1]! > index; at--) indexes[at] = indexes[at - 1]!;
  indexes[at] = index;
  return true;
}

/** Kinds within kinds, such as a stateful set's claims, have kind and apiVersion too. */
function copyKind(object: Readonly<JsonObject>, into: JsonObject, pass: Pass): void {
  for (const name of ['kind', 'apiVersion']) {
    const value = object[name];
    if (value === undefined) continue;
    into[name] = value;
    if (typeof value !== 'string') pass.isExact = false;
  }
}

function writeAbsent(field: Field, into: JsonObject, depth: number): void {
  into[field.name] = field.isPointer || canBeNil(field.type) ? null : zeroOf(field.type, depth);
}

const canBeNil = ({ kind }: ValueType): boolean => kind === 'list' || kind === 'map' || kind === 'bytes';

/** Go omits zero texts, numbers and booleans, and empty lists and maps, but never structs. */
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

function valueOf(type: ValueType, value: unknown, depth: number, pass: Pass): unknown {
  switch (type.kind) {
    case 'string':
      return expect(typeof value === 'string', value, type);
    case 'bool':
      return expect(typeof value === 'boolean', value, type);
    case 'int32':
    case 'int64':
      if (!isInteger(value, type.kind)) pass.isExact = false;
      return expect(typeof value === 'number', value, type);
    case 'double':
      return expect(typeof value === 'number', value, type);
    case 'bytes':
      expect(typeof value === 'string', value, type);
      return canonicalBase64(value as string, pass);
    case 'struct':
      return structValue(type, value, depth, pass);
    case 'list':
      expect(Array.isArray(value), value, type);
      return listOf(type.element!, value as unknown[], depth, pass);
    case 'map':
      expect(isObject(value), value, type);
      return mapOf(type.element!, value as JsonObject, depth, pass);
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
      if (typeof value === 'number' && !isInteger(value, 'int32')) pass.isExact = false;
      return expect(typeof value === 'string' || Number.isInteger(value), value, type);
    default:
      return value;
  }
}

function canonicalBase64(text: string, pass: Pass): string {
  const canonical = Buffer.from(text, 'base64').toString('base64');
  if (canonical !== text && base64Problem(text) !== undefined) pass.isExact = false;
  return canonical;
}

/** Objects keep the same few times through every write. */
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

function structValue(type: ValueType, value: unknown, depth: number, pass: Pass): unknown {
  const { struct } = type;
  if (struct.shape !== undefined) return shapeOf(struct, value, depth, pass);
  expect(isObject(value), value, type);
  return filled(struct, value as JsonObject, depth + 1, pass);
}

function shapeOf(struct: StructType, value: unknown, depth: number, pass: Pass): unknown {
  // Go decodes these with special rules, which `checkFields` implements.
  pass.isExact = false;
  if (isObject(value))
    return structValue(struct.fields.find(({ name }) => name === 'Schema')!.type, value, depth, pass);
  if (struct.shape === 'or-bool') {
    if (typeof value !== 'boolean') throw invalidValue('boolean or JSON schema expected');
    return value;
  }
  if (!Array.isArray(value) || value.length === 0) return null;
  return valueOf(struct.fields.find(({ type }) => type.kind === 'list')!.type, value, depth, pass);
}

function elementOf(type: ValueType, value: unknown, depth: number, pass: Pass): unknown {
  return value === null || value === undefined ? zeroOf(type, depth) : valueOf(type, value, depth + 1, pass);
}

function listOf(element: ValueType, list: unknown[], depth: number, pass: Pass): unknown[] {
  let into: unknown[] | undefined = pass.sharesParts ? undefined : [];
  for (let i = 0; i < list.length; i++) {
    const value = elementOf(element, list[i], depth, pass);
    if (!into && value !== list[i]) into = list.slice(0, i);
    into?.push(value);
  }
  return into ?? list;
}

function mapOf(element: ValueType, object: Readonly<JsonObject>, depth: number, pass: Pass): JsonObject {
  const into: JsonObject = {};
  // Go writes maps in the order of their keys.
  for (const key of sortKeys(Object.keys(object))) {
    const value = elementOf(element, object[key], depth, pass);
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
    case 'struct':
      if (type.struct.shape !== undefined) return type.struct.shape === 'or-bool' ? false : null;
      return filled(type.struct, {}, depth + 1, { isExact: true, sharesParts: false });
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
