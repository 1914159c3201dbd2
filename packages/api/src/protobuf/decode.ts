/** Protobuf → the JSON object that kube-apiserver would show, with Go's order of fields and rules for omission. */

import { hasCode } from '@hangar/core';
import type { StructType } from '../builtin/types.ts';
import { ApiError } from '../errors.ts';
import { parseJson } from '../json/parse.ts';
import { messageDepthMax } from '../limits.ts';
import { formatDuration } from '../values/duration.ts';
import { formatTime, zeroTimeSeconds } from '../values/time.ts';
import { innerPlan, planOf, wireTypes } from './plan.ts';
import type { Plan, PlannedField, Slot } from './plan.ts';
import { malformed } from './reader.ts';
import type { Reader } from './reader.ts';

export type JsonObject = Record<string, unknown>;

/** Reads the message between the reader's position and `end`. Throws MalformedProtobuf or TooDeep. */
export function readStruct(reader: Reader, struct: StructType, end: number, into: JsonObject = {}): JsonObject {
  readMessage(reader, planOf(struct), end, into, 0);
  return into;
}

function readMessage(reader: Reader, plan: Plan, end: number, into: JsonObject, depth: number): void {
  const values = readFields(reader, plan, end, depth);
  emit(reader, plan, values, into, depth);
}

/** Reads the values of the message, by field index. Of a repeated scalar field the last one counts; lists are extended. */
function readFields(reader: Reader, plan: Plan, end: number, depth: number): unknown[] {
  if (depth > messageDepthMax) throw new ApiError('TooDeep', 'the message is nested too deeply');
  reader.countObject();
  const values = plan.absent.slice();
  while (reader.at < end) {
    const tag = reader.varint(end);
    const number = tag >>> 3;
    if (number === 0) throw malformed(`proto: ${plan.struct.name}: illegal tag 0 (wire type ${tag & 7})`);
    const field = plan.byNumber[number];
    if (!field) reader.skip(tag, end);
    else if (tag === field.tag) values[field.index] = readField(reader, field, end, values[field.index], depth);
    else if (isPacked(field, tag)) values[field.index] = readPacked(reader, field, end, values[field.index], depth);
    else throw malformed(`proto: wrong wireType = ${tag & 7} for field ${goFieldName(field)}`);
  }
  return values;
}

/** Returns the Go name: usually the JSON name with a capital; metadata is embedded and has its type's name. */
function goFieldName({ name, type, isInline }: PlannedField): string {
  if (isInline || name === 'metadata') return type.struct.name;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const isPacked = (field: PlannedField, tag: number): boolean =>
  field.kind === 'list' && !field.type.isMessageList && (tag & 7) === wireTypes.bytes;

function readPacked(reader: Reader, field: PlannedField, end: number, before: unknown, depth: number): unknown[] {
  const list = (before as unknown[] | undefined) ?? [];
  const stop = reader.endOfBytes(end);
  while (reader.at < stop) list.push(readValue(reader, field.element!, stop, depth));
  return list;
}

function readField(reader: Reader, field: PlannedField, end: number, before: unknown, depth: number): unknown {
  if (field.kind === 'list' && !field.type.isMessageList) {
    const list = (before as unknown[] | undefined) ?? [];
    list.push(readValue(reader, field.element!, end, depth));
    return list;
  }
  if (field.kind === 'map') return readEntry(reader, field, end, (before as JsonObject | undefined) ?? {}, depth);
  if (!field.isInline) return readValue(reader, field, end, depth);
  // Kept as the inner struct's own values: they are emitted among those of the outer struct.
  const stop = reader.endOfBytes(end);
  return readFields(reader, innerPlan(field), stop, depth + 1);
}

function readEntry(reader: Reader, { element }: Slot, end: number, into: JsonObject, depth: number): JsonObject {
  const stop = reader.endOfBytes(end);
  let key = '';
  let value: unknown;
  while (reader.at < stop) {
    const tag = reader.varint(stop);
    if (tag === 0x0a) key = reader.text(stop);
    else if (tag === element!.tag) value = readValue(reader, element!, stop, depth);
    else if (tag >>> 3 === 0 || tag >>> 3 <= 2) throw malformed('a map entry has an invalid wire type');
    else reader.skip(tag, stop);
  }
  reader.countObject();
  set(into, key, value === undefined ? zeroOf(reader, element!, depth) : value);
  return into;
}

function readValue(reader: Reader, slot: Slot, end: number, depth: number): unknown {
  switch (slot.kind) {
    case 'string':
      return reader.text(end);
    case 'bool':
      return reader.bigint(end) !== 0n;
    case 'int32':
      return reader.int32(end);
    case 'int64':
      return reader.int64(end);
    case 'double':
      return finite(reader.double(end));
    case 'bytes':
      return reader.bytes(end).toString('base64');
    default: {
      const stop = reader.endOfBytes(end);
      const value = readMessageValue(reader, slot, stop, depth);
      reader.at = stop;
      return value;
    }
  }
}

/** JSON has no infinities; Go refuses to write them. */
function finite(value: number): number {
  if (!Number.isFinite(value)) throw malformed('a number has no JSON representation');
  return value;
}

function readMessageValue(reader: Reader, slot: Slot, end: number, depth: number): unknown {
  switch (slot.kind) {
    case 'struct': {
      const plan = innerPlan(slot);
      const into: JsonObject = {};
      readMessage(reader, plan, end, into, depth + 1);
      return plan.struct.shape === undefined ? into : unshaped(plan.struct, into);
    }
    case 'list':
      return readMessageList(reader, slot, end, depth);
    case 'quantity':
      return readParts(reader, end, quantityParts)[0] ?? '0';
    case 'intorstring': {
      const [type, number, text] = readParts(reader, end, intOrStringParts);
      return type === 1 ? (text ?? '') : (number ?? 0);
    }
    case 'time':
    case 'microtime':
      return readTime(reader, slot.kind === 'time' ? 'second' : 'micro', end);
    case 'duration':
      return formatDuration((readParts(reader, end, ['bigint'])[0] as bigint | undefined) ?? 0n);
    case 'raw':
    case 'fieldsv1':
    case 'json':
      return readJson(reader, end);
    default:
      throw new ApiError('UnknownKind', `${slot.type.goName} has no protobuf encoding`);
  }
}

function readMessageList(reader: Reader, { element }: Slot, end: number, depth: number): unknown[] {
  const list: unknown[] = [];
  while (reader.at < end) {
    const tag = reader.varint(end);
    if (tag === element!.tag) list.push(readValue(reader, element!, end, depth));
    else reader.skip(tag, end);
  }
  return list;
}

type Part = 'text' | 'int32' | 'int64' | 'bigint' | 'bytes';

const timeParts: readonly Part[] = ['int64', 'int32'];
const quantityParts: readonly Part[] = ['text'];
const intOrStringParts: readonly Part[] = ['int64', 'int32', 'text'];

/** Reads the fields 1, 2, … of a small message. */
function readParts(reader: Reader, end: number, parts: readonly Part[]): unknown[] {
  const values: unknown[] = [];
  while (reader.at < end) {
    const tag = reader.varint(end);
    const number = tag >>> 3;
    const part = parts[number - 1];
    if (number === 0) throw malformed(`proto: illegal tag 0 (wire type ${tag & 7})`);
    if (part === undefined) {
      reader.skip(tag, end);
      continue;
    }
    const wire = part === 'text' || part === 'bytes' ? wireTypes.bytes : wireTypes.varint;
    if ((tag & 7) !== wire) throw malformed(`proto: wrong wireType = ${tag & 7}`);
    values[number - 1] = reader[part](end);
  }
  return values;
}

function readTime(reader: Reader, precision: 'second' | 'micro', end: number): string | null {
  if (reader.at === end) return null;
  const [seconds = 0, nanos = 0] = readParts(reader, end, timeParts) as (number | undefined)[];
  const shownNanos = precision === 'micro' ? nanos : 0;
  if (seconds === zeroTimeSeconds && shownNanos < 1000) return null;
  const text = formatTime(seconds, precision, shownNanos);
  if (text === undefined || nanos < 0 || nanos >= 1e9) throw malformed('a time is out of range');
  return text;
}

function readJson(reader: Reader, end: number): unknown {
  const [bytes] = readParts(reader, end, ['bytes']) as [Buffer | undefined];
  if (bytes === undefined || bytes.length === 0) return null;
  try {
    return parseJson(bytes).value;
  } catch (error) {
    if (hasCode(error, 'TooDeep')) throw error;
    throw new ApiError('MalformedProtobuf', 'embedded JSON is malformed', { cause: error });
  }
}

function unshaped(struct: StructType, value: JsonObject): unknown {
  switch (struct.shape) {
    case 'or-bool':
      return value['Schema'] ?? value['Allows'];
    case 'or-array':
      return value['JSONSchemas'] ?? value['Schema'];
    default:
      return value['Property'] ?? value['Schema'];
  }
}

function emit(reader: Reader, plan: Plan, values: readonly unknown[], into: JsonObject, depth: number): void {
  const { fields } = plan;
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    const value = values[i];
    if (field.isInline) emitInline(reader, field, value, into, depth);
    else if (value === undefined) emitAbsent(reader, field, into, depth);
    else if (!isOmitted(field, value)) into[field.name] = value;
  }
}

/** A pointer may be inlined too: if it is nil, nothing is shown. */
function emitInline(reader: Reader, field: PlannedField, value: unknown, into: JsonObject, depth: number): void {
  if (value === undefined && field.isPointer) return;
  emit(reader, innerPlan(field), (value as unknown[] | undefined) ?? [], into, depth);
}

function emitAbsent(reader: Reader, field: PlannedField, into: JsonObject, depth: number): void {
  if (field.isPointer || field.kind === 'list' || field.kind === 'map' || field.kind === 'bytes') {
    if (!field.omitEmpty) into[field.name] = null;
    return;
  }
  const value = zeroOf(reader, field, depth);
  if (!isOmitted(field, value)) into[field.name] = value;
}

const structsInGo = new Set([
  'struct',
  'quantity',
  'intorstring',
  'time',
  'microtime',
  'duration',
  'raw',
  'fieldsv1',
  'json',
]);

/** Go omits empty values; a struct is never empty, but may be omitted if it is zero. */
function isOmitted(field: PlannedField, value: unknown): boolean {
  if (!field.omitEmpty || field.isPointer) return false;
  if (structsInGo.has(field.kind)) return field.omitZero && value === null;
  return value === '' || value === 0 || value === false;
}

function zeroOf(reader: Reader, slot: Slot, depth: number): unknown {
  switch (slot.kind) {
    case 'string':
    case 'bytes':
      return '';
    case 'bool':
      return false;
    case 'quantity':
      return '0';
    case 'duration':
      return '0s';
    case 'struct': {
      if (depth > messageDepthMax) throw new ApiError('TooDeep', 'the message is nested too deeply');
      reader.countObject();
      const plan = innerPlan(slot);
      const into: JsonObject = {};
      emit(reader, plan, [], into, depth + 1);
      return plan.struct.shape === undefined ? into : unshaped(plan.struct, into);
    }
    case 'list':
      return [];
    case 'map':
    case 'time':
    case 'microtime':
    case 'raw':
    case 'fieldsv1':
    case 'json':
      return null;
    default:
      return 0;
  }
}

/** The keys of a map come from clients: `__proto__` must become an ordinary property. */
function set(into: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(into, key, { value, writable: true, enumerable: true, configurable: true });
  } else into[key] = value;
}
