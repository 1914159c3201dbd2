/**
 * JSON viewed as CEL without copying: an adapter per type converts a JSON value to a CEL value on access. Only own properties exist:
 * `__proto__` and `constructor` are ordinary keys.
 */

import { fail } from '../errors.ts';
import { isDyn } from '../types.ts';
import type { ObjectType, Type } from '../types.ts';
import { decodeBase64 } from './base64.ts';
import { canonical, int64Max, int64Min } from './integers.ts';
import { JsonKeyedList } from './keyed-list.ts';
import { CelList } from './list.ts';
import { CelMap } from './map.ts';
import { work } from '../work.ts';
import { parseDuration, parseTimestamp } from './time.ts';
import { Boxed, Double } from './values.ts';
import type { CelValue } from './values.ts';

const nsPerKey = 60;

export type JsonObject = Readonly<Record<string, unknown>>;
/** JSON, or a CEL value, which every adapter lets through. */
export type Adapter = (raw: unknown) => CelValue;

/** Whether reading `object[key]` could find something inherited. */
export const inherited = (key: string): boolean => key in Object.prototype;

export function ownProperty(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** True for a plain JSON object (not a list, not bytes, not a value of ours). */
export function isJsonObject(raw: unknown): raw is JsonObject {
  return (
    typeof raw === 'object' &&
    raw !== null &&
    !(raw instanceof Boxed) &&
    !Array.isArray(raw) &&
    !(raw instanceof Uint8Array)
  );
}

export class JsonList extends CelList {
  readonly #json: readonly unknown[];
  readonly #adapt: Adapter;

  constructor(json: readonly unknown[], adapt: Adapter) {
    super();
    this.#json = json;
    this.#adapt = adapt;
  }

  override get size(): number {
    return this.#json.length;
  }

  override at(index: number): CelValue {
    return this.#adapt(this.#json[index]);
  }
}

export class JsonMap extends CelMap {
  readonly #json: JsonObject;
  readonly #adapt: Adapter;
  #keys: readonly string[] | undefined;

  constructor(json: JsonObject, adapt: Adapter) {
    super();
    this.#json = json;
    this.#adapt = adapt;
  }

  override get size(): number {
    return this.keys().length;
  }

  override find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    const value = ownProperty(this.#json, key);
    return value === undefined ? undefined : this.#adapt(value);
  }

  override keys(): readonly string[] {
    if (this.#keys === undefined) {
      this.#keys = Object.keys(this.#json);
      work(this.#keys.length * nsPerKey);
    }
    return this.#keys;
  }
}

/** An object with declared fields: looked up by their CEL names; undeclared properties do not exist. */
export class JsonStruct extends CelMap {
  readonly #json: JsonObject;
  readonly #type: ObjectType;

  constructor(json: JsonObject, type: ObjectType) {
    super();
    this.#json = json;
    this.#type = type;
  }

  override get typeName(): string {
    return this.#type.name;
  }

  override get size(): number {
    return this.keys().length;
  }

  override find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    const field = this.#type.fields.get(key);
    if (field === undefined) return undefined;
    const value = ownProperty(this.#json, field.jsonName ?? key);
    return value === undefined ? undefined : adapter(field.type)(value);
  }

  override keys(): readonly string[] {
    work(this.#type.fields.size * nsPerKey);
    return [...this.#type.fields]
      .filter(([name, f]) => Object.hasOwn(this.#json, f.jsonName ?? name))
      .map(([name]) => name);
  }
}

const adapters = new WeakMap<Type, Adapter>();

/** The adapter of a type; one per type object, made on first use (types may be recursive). */
export function adapter(type: Type): Adapter {
  let found = adapters.get(type);
  if (found === undefined) {
    found = makeAdapter(type);
    adapters.set(type, found);
  }
  return found;
}

const mismatch = (expected: string): never => fail(`invalid data, expected a ${expected}`);

function makeAdapter(type: Type): Adapter {
  switch (type.kind) {
    case 'string':
      return (raw) => (typeof raw === 'string' ? raw : other(raw, 'string'));
    case 'bool':
      return (raw) => (typeof raw === 'boolean' ? raw : other(raw, 'bool'));
    case 'int':
      return (raw) => (typeof raw === 'number' || typeof raw === 'bigint' ? integer(raw) : other(raw, 'int'));
    case 'double':
      return (raw) =>
        typeof raw === 'number' || typeof raw === 'bigint' ? new Double(Number(raw)) : other(raw, 'double');
    case 'bytes':
      return (raw) => (typeof raw === 'string' ? decodeBase64(raw) : other(raw, 'bytes'));
    case 'timestamp':
      return (raw) => (typeof raw === 'string' ? parseTimestamp(raw) : other(raw, 'timestamp'));
    case 'duration':
      return (raw) => (typeof raw === 'string' ? parseDuration(raw) : other(raw, 'duration'));
    case 'list': {
      const { listType, mapKeys = [] } = type;
      const element: Adapter = (raw) => adapter(type.element)(raw);
      if (listType === undefined)
        return (raw) => (Array.isArray(raw) ? new JsonList(raw, element) : other(raw, 'list'));
      return (raw) => (Array.isArray(raw) ? new JsonKeyedList(raw, element, mapKeys) : other(raw, 'list'));
    }
    case 'map': {
      const value: Adapter = (raw) => adapter(type.value)(raw);
      return (raw) => (isJsonObject(raw) ? new JsonMap(raw, value) : other(raw, 'map'));
    }
    case 'object':
      return (raw) => (isJsonObject(raw) ? new JsonStruct(raw, type) : other(raw, 'object'));
    case 'wrapper':
      return (raw) => (raw === null ? null : adapter(type.of)(raw));
    default:
      return adaptAny;
  }
}

/** JSON null is allowed everywhere (a nullable field), and so is a value of ours. */
function other(raw: unknown, expected: string): CelValue {
  if (raw === null || raw instanceof Boxed || raw instanceof Uint8Array) return raw as CelValue;
  return mismatch(expected);
}

function integer(raw: number | bigint): CelValue {
  if (typeof raw === 'number') {
    if (Number.isSafeInteger(raw)) return raw + 0;
    if (!Number.isInteger(raw)) return new Double(raw);
    raw = BigInt(raw);
  }
  return raw > int64Max || raw < int64Min ? new Double(Number(raw)) : canonical(raw);
}

/** JSON without a schema: a number without a fraction is an int. */
export function adaptAny(raw: unknown): CelValue {
  switch (typeof raw) {
    case 'string':
    case 'boolean':
      return raw;
    case 'number':
    case 'bigint':
      return integer(raw);
    case 'object':
      if (raw === null || raw instanceof Boxed || raw instanceof Uint8Array) return raw as CelValue;
      return Array.isArray(raw) ? new JsonList(raw, adaptAny) : new JsonMap(raw as JsonObject, adaptAny);
    default:
      return fail(`unsupported value of type ${typeof raw}`);
  }
}

/** Reports whether a static type does not describe its JSON. */
export const untyped = (type: Type): boolean => isDyn(type) || type.kind === 'param' || type.kind === 'opaque';
