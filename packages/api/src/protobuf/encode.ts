/**
 * JSON objects → protobuf, byte for byte as kube-apiserver writes it: fields by number, maps by key, and fields that are not pointers in Go
 * are always written, also zeros.
 */

import { asError } from '@hangar/core';
import type { StructType, ValueType } from '../builtin/types.ts';
import { ApiError, invalidValue } from '../errors.ts';
import { messageDepthMax } from '../limits.ts';
import { parseDuration } from '../values/duration.ts';
import { sortKeys } from '../values/key-order.ts';
import { canonicalQuantity } from '../values/quantity.ts';
import { parseTime, zeroTimeSeconds } from '../values/time.ts';
import { innerPlan, planOf } from './plan.ts';
import type { Plan, Slot } from './plan.ts';
import { Writer } from './writer.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const nothing: JsonObject = Object.freeze(Object.create(null) as JsonObject);

/** Prepends the message of `value`. Throws InvalidValue or TooDeep. */
export function writeStruct(writer: Writer, struct: StructType, value: JsonObject): void {
  writeMessage(writer, planOf(struct), value, 0);
}

function writeMessage(writer: Writer, plan: Plan, value: JsonObject, depth: number): void {
  if (depth > messageDepthMax) throw new ApiError('TooDeep', 'the object is nested too deeply');
  const fields = plan.backwards;
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    const one = field.isInline ? value : value[field.name];
    if (one === undefined || one === null) {
      // A list that is a message can be absent as a field, but not as the value of a map.
      if (!field.isPointer && field.kind !== 'list') writeZero(writer, field);
    } else {
      try {
        writeValue(writer, field, one, depth);
      } catch (error) {
        throw located(error, field.name);
      }
    }
  }
}

/** Puts the field's name before the message of an InvalidValue, so that nested ones read as a path. */
function located(error: unknown, name: string): Error {
  if (!(error instanceof ApiError) || error.code !== 'InvalidValue' || name === '') return asError(error);
  const [, path, rest] = /^(\.[^ :]*): (.*)$/s.exec(error.message) ?? [undefined, '', error.message];
  return invalidValue(`.${name}${path}: ${rest}`);
}

function writeZero(writer: Writer, slot: Slot): void {
  switch (slot.kind) {
    case 'bytes':
    case 'map':
      return;
    case 'list':
      if (!slot.type.isMessageList) return;
      writer.byte(0);
      break;
    case 'struct': {
      const bytes = emptyMessage(innerPlan(slot));
      writer.bytes(bytes);
      writer.varint(bytes.length);
      break;
    }
    case 'double':
      writer.double(0);
      break;
    case 'quantity':
    case 'intorstring':
    case 'duration':
      writeValueBody(writer, slot, zeros[slot.kind], 0);
      break;
    // Numbers, and the lengths of empty texts and messages.
    default:
      writer.byte(0);
  }
  writer.varint(slot.tag);
}

const zeros = { quantity: '0', intorstring: 0, duration: '0s' } as const;

function emptyMessage(plan: Plan): Uint8Array {
  if (!plan.empty) {
    // A separate writer: the caller's is in use.
    const writer = new Writer();
    writeMessage(writer, plan, nothing, 0);
    plan.empty = writer.finish();
  }
  return plan.empty;
}

function writeValue(writer: Writer, field: Slot, value: unknown, depth: number): void {
  if (field.kind === 'list' && !field.type.isMessageList) writeList(writer, field, value, depth);
  else if (field.kind === 'map') writeMap(writer, field, value, depth);
  else {
    writeValueBody(writer, field, value, depth);
    writer.varint(field.tag);
  }
}

function writeList(writer: Writer, { type, element }: Slot, value: unknown, depth: number): void {
  if (!Array.isArray(value)) throw mismatch(value, type);
  for (let i = value.length - 1; i >= 0; i--) {
    const one = value[i] as unknown;
    if (one !== null && one !== undefined) writeValue(writer, element!, one, depth);
    else if (element!.kind !== 'bytes') writeZero(writer, element!);
  }
}

function writeMap(writer: Writer, { type, tag, element }: Slot, value: unknown, depth: number): void {
  if (!isObject(value)) throw mismatch(value, type);
  const keys = sortKeys(Object.keys(value));
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i]!;
    const one = value[key];
    const before = writer.length;
    if (one !== null && one !== undefined) writeValue(writer, element!, one, depth);
    else writeZero(writer, element!);
    writer.text(key);
    writer.byte(0x0a);
    writer.varint(writer.length - before);
    writer.varint(tag);
  }
}

function writeValueBody(writer: Writer, slot: Slot, value: unknown, depth: number): void {
  switch (slot.kind) {
    case 'string':
      if (typeof value !== 'string') throw mismatch(value, slot.type);
      writer.text(value);
      return;
    case 'bool':
      if (typeof value !== 'boolean') throw mismatch(value, slot.type);
      writer.byte(value ? 1 : 0);
      return;
    case 'int32':
    case 'int64':
      writeInteger(writer, slot, value);
      return;
    case 'double':
      if (typeof value !== 'number') throw mismatch(value, slot.type);
      writer.double(value);
      return;
    default: {
      const before = writer.length;
      writeBytesBody(writer, slot, value, depth);
      writer.varint(writer.length - before);
    }
  }
}

function writeInteger(writer: Writer, { kind, type }: Slot, value: unknown): void {
  if (typeof value !== 'number') throw mismatch(value, type);
  const max = kind === 'int32' ? 2 ** 31 : 2 ** 63;
  if (!Number.isInteger(value) || value >= max || value < -max) throw mismatch(value, type);
  writer.integer(value);
}

/** Writes the bytes after a length. */
function writeBytesBody(writer: Writer, slot: Slot, value: unknown, depth: number): void {
  const { type } = slot;
  switch (slot.kind) {
    case 'struct':
      writeStructBody(writer, innerPlan(slot), value, depth + 1, type);
      return;
    case 'list':
      writeList(writer, slot, value, depth);
      return;
    case 'bytes':
      if (typeof value !== 'string') throw mismatch(value, type);
      writer.bytes(Buffer.from(value, 'base64'));
      return;
    case 'quantity':
      if (typeof value !== 'string' && typeof value !== 'number') throw mismatch(value, type);
      writer.text(canonicalQuantity(String(value).trim()));
      writer.byte(0x0a);
      return;
    case 'intorstring':
      writeIntOrString(writer, value, type);
      return;
    case 'time':
    case 'microtime':
      writeTime(writer, slot.kind === 'time' ? 'second' : 'micro', value, type);
      return;
    case 'duration':
      if (typeof value !== 'string') throw mismatch(value, type);
      writer.bigint(parseDuration(value));
      writer.byte(0x08);
      return;
    case 'raw':
    case 'fieldsv1':
    case 'json': {
      const bytes = Buffer.from(JSON.stringify(value));
      writer.bytes(bytes);
      writer.varint(bytes.length);
      writer.byte(0x0a);
      return;
    }
    default:
      throw new ApiError('UnknownKind', `${type.goName} has no protobuf encoding`);
  }
}

function writeIntOrString(writer: Writer, value: unknown, type: ValueType): void {
  if (typeof value === 'number' ? !Number.isInteger(value) || (value | 0) !== value : typeof value !== 'string') {
    throw mismatch(value, type);
  }
  writer.text(typeof value === 'string' ? value : '');
  writer.byte(0x1a);
  writer.integer(typeof value === 'number' ? value : 0);
  writer.byte(0x10);
  writer.byte(typeof value === 'string' ? 1 : 0);
  writer.byte(0x08);
}

function writeTime(writer: Writer, precision: 'second' | 'micro', value: unknown, type: ValueType): void {
  if (typeof value !== 'string') throw mismatch(value, type);
  const { seconds, nanos } = parseTime(value, precision);
  if (seconds === zeroTimeSeconds && nanos === 0) return;
  writer.integer(precision === 'micro' ? nanos : 0);
  writer.byte(0x10);
  writer.integer(seconds);
  writer.byte(0x08);
}

function writeStructBody(writer: Writer, plan: Plan, value: unknown, depth: number, type: ValueType): void {
  if (plan.struct.shape !== undefined) writeMessage(writer, plan, shaped(plan.struct, value), depth);
  else if (isObject(value)) writeMessage(writer, plan, value, depth);
  else throw mismatch(value, type);
}

/** Returns a schema, or its simpler form, as the struct that holds both. */
function shaped(struct: StructType, value: unknown): JsonObject {
  switch (struct.shape) {
    case 'or-bool':
      if (isObject(value)) return { Allows: true, Schema: value };
      if (typeof value === 'boolean') return { Allows: value };
      throw invalidValue('boolean or JSON schema expected');
    case 'or-array':
      return Array.isArray(value) ? { JSONSchemas: value } : isObject(value) ? { Schema: value } : nothing;
    default:
      return Array.isArray(value) ? { Property: value } : isObject(value) ? { Schema: value } : nothing;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mismatch(value: unknown, type: ValueType): ApiError {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return invalidValue(`cannot use ${found} as ${type.goName}`);
}
