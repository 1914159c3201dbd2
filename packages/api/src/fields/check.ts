/**
 * Checks an object against its schema. Reports in kube-apiserver's wording: unknown and repeated fields with their paths, and the one type
 * error that Go's decoder would return.
 *
 * Go keeps the first mismatch and continues; but where a type decodes its own JSON (quantities, times, int-or-string) it stops at once, and
 * that error wins. Its paths name the innermost struct, then the JSON names from the root, with the name of each inlined struct on the way,
 * without list positions and map keys.
 */

import { ApiError, invalidValue } from '../errors.ts';
import type { Field, StructType, ValueType } from '../builtin/types.ts';
import { depthMax, strictProblemsMax } from '../limits.ts';
import type { RepeatedKeys } from '../json/slow-parser.ts';
import { parseDuration } from '../values/duration.ts';
import { canonicalQuantity } from '../values/quantity.ts';
import { parseTime } from '../values/time.ts';
import { base64Problem } from './base64.ts';
import { isInteger } from './integer.ts';

export interface FieldReport {
  /** `json: cannot unmarshal …`: the object is refused with any field validation. */
  readonly error: string | undefined;
  /** `unknown field "spec.foo"`, `duplicate field "spec.bar"`: at most a hundred, each once, in the object's order. */
  readonly problems: readonly string[];
}

export interface CheckOptions {
  /** Positions of repeated keys, from `parseJson`. */
  readonly repeated?: RepeatedKeys;
}

export function checkFields(struct: StructType, object: unknown, options: CheckOptions = {}): FieldReport {
  const checker = new FieldChecker(options.repeated);
  try {
    checker.root(struct, object);
  } catch (error) {
    if (error instanceof ApiError) return { error: error.message, problems: [] };
    throw error;
  }
  return { error: checker.error, problems: checker.error === undefined ? [...checker.problems] : [] };
}

/** Position of Go's decoder: the innermost struct, and the names on the path. */
interface Place {
  readonly struct: string;
  /** Joined by dots; empty at the root. */
  readonly names: string;
}

class FieldChecker {
  error: string | undefined;
  readonly problems = new Set<string>();
  readonly #repeated: RepeatedKeys | undefined;
  /** False inside types that decode their own JSON: unknown fields are not reported there. */
  #isStrict = true;

  constructor(repeated: RepeatedKeys | undefined) {
    this.#repeated = repeated?.size ? repeated : undefined;
  }

  root(struct: StructType, object: unknown): void {
    if (object === null || object === undefined) return;
    if (!isObject(object)) this.#mismatch(object, struct.goName, undefined);
    else this.#struct(struct, object, undefined, '', 1);
  }

  #struct(struct: StructType, object: JsonObject, place: Place | undefined, path: string, depth: number): void {
    if (depth > depthMax) throw new ApiError('TooDeep', 'the object is nested too deeply');
    const prefix = place === undefined || place.names === '' ? '' : `${place.names}.`;
    const visit = (key: string): void => {
      const found = propertyPath(struct, key);
      if (!found) {
        this.#problem('unknown', path, key);
        return;
      }
      const value = object[key];
      if (value === null || value === undefined) return;
      const { field, through } = found;
      const { kind } = field.type;
      if (kind === 'string' && typeof value === 'string') return;
      const inner = { struct: struct.name, names: `${prefix}${through}${key}` };
      this.#value(field.type, value, inner, path === '' ? key : `${path}.${key}`, depth);
    };
    this.#eachKey(object, path, (key) => propertyPath(struct, key) !== undefined, visit);
  }

  /** Visits every key once, in the text's order; reports repeated ones. */
  #eachKey(object: JsonObject, path: string, isKnown: (key: string) => boolean, visit: (key: string) => void): void {
    const keys = this.#repeated?.get(object);
    if (!keys) {
      for (const key of Object.keys(object)) visit(key);
      return;
    }
    const seen = new Set<string>();
    for (const key of keys) {
      if (!seen.has(key)) visit(key);
      else if (isKnown(key)) this.#problem('duplicate', path, key);
      seen.add(key);
    }
  }

  #value(type: ValueType, value: unknown, place: Place, path: string, depth: number): void {
    switch (type.kind) {
      case 'string':
        if (typeof value !== 'string') this.#mismatch(value, type.goName, place);
        return;
      case 'bool':
        if (typeof value !== 'boolean') this.#mismatch(value, type.goName, place);
        return;
      case 'int32':
      case 'int64':
        if (!isInteger(value, type.kind)) this.#mismatch(value, type.goName, place, true);
        return;
      case 'double':
        if (typeof value !== 'number') this.#mismatch(value, type.goName, place);
        return;
      case 'bytes':
        this.#bytes(value, type, place);
        return;
      case 'struct':
        this.#structValue(type, value, place, path, depth);
        return;
      case 'list':
        if (!Array.isArray(value)) this.#mismatch(value, type.goName, place);
        else this.#list(type.element!, value, place, path, depth);
        return;
      case 'map':
        if (!isObject(value)) this.#mismatch(value, type.goName, place);
        else this.#map(type.element!, value, place, path, depth);
        return;
      case 'quantity':
        canonicalQuantity(typeof value === 'string' ? value.trim() : JSON.stringify(value));
        return;
      case 'intorstring':
        if (typeof value !== 'string' && !isInteger(value, 'int32')) throw this.#fatal(value, 'int32', place, true);
        return;
      case 'time':
      case 'microtime':
        if (typeof value !== 'string') throw this.#fatal(value, 'string', place);
        parseTime(value, type.kind === 'time' ? 'second' : 'micro');
        return;
      case 'duration':
        if (typeof value !== 'string') throw this.#fatal(value, 'string', place);
        parseDuration(value);
        return;
      // `raw`, `fieldsv1`, `json`, `any`: any value.
      default:
    }
  }

  #list(element: ValueType, list: readonly unknown[], place: Place, path: string, depth: number): void {
    for (let i = 0; i < list.length; i++) {
      const one = list[i];
      if (one === null || one === undefined) continue;
      if (typeof one === 'string' && element.kind === 'string') continue;
      this.#value(element, one, place, `${path}[${i}]`, depth + 1);
    }
  }

  #map(element: ValueType, object: JsonObject, place: Place, path: string, depth: number): void {
    const visit = (key: string): void => {
      const one = object[key];
      if (one === null || one === undefined) return;
      if (typeof one === 'string' && element.kind === 'string') return;
      this.#value(element, one, place, `${path}.${key}`, depth + 1);
    };
    this.#eachKey(object, path, () => true, visit);
  }

  #structValue(type: ValueType, value: unknown, place: Place, path: string, depth: number): void {
    const { struct } = type;
    if (struct.shape !== undefined) this.#shape(struct, value, place, path, depth);
    else if (isObject(value)) this.#struct(struct, value, place, path, depth + 1);
    else this.#mismatch(value, type.goName, place);
  }

  /** These types decode their own content: the first error stops everything, and nothing is strict. */
  #shape(struct: StructType, value: unknown, place: Place, path: string, depth: number): void {
    const [wasStrict, errorBefore] = [this.#isStrict, this.error];
    this.#isStrict = false;
    this.error = undefined;
    const schema = struct.fields.find(({ name }) => name === 'Schema')!.type;
    if (isObject(value)) this.#struct(schema.struct, value, place, path, depth + 1);
    else if (Array.isArray(value) && struct.shape !== 'or-bool') {
      const many = struct.fields.find(({ type }) => type.kind === 'list')!.type;
      this.#list(many.element!, value, place, path, depth + 1);
    } else if (struct.shape === 'or-bool' && typeof value !== 'boolean') {
      throw invalidValue('boolean or JSON schema expected');
    }
    if (this.error !== undefined) throw invalidValue(this.error);
    this.#isStrict = wasStrict;
    this.error = errorBefore;
  }

  #bytes(value: unknown, type: ValueType, place: Place): void {
    if (typeof value !== 'string') this.#mismatch(value, type.goName, place);
    else this.error ??= base64Problem(value);
  }

  #mismatch(value: unknown, goName: string, place: Place | undefined, showNumber = false): void {
    this.error ??= mismatchMessage(value, goName, place, showNumber);
  }

  #fatal(value: unknown, goName: string, place: Place, showNumber = false): ApiError {
    return invalidValue(mismatchMessage(value, goName, place, showNumber));
  }

  #problem(what: 'unknown' | 'duplicate', path: string, key: string): void {
    if (!this.#isStrict || this.problems.size >= strictProblemsMax) return;
    this.problems.add(`${what} field "${path === '' ? key : `${path}.${key}`}"`);
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

function mismatchMessage(value: unknown, goName: string, place: Place | undefined, showNumber: boolean): string {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  const shown = showNumber && typeof value === 'number' ? `number ${value}` : found;
  if (!place) return `json: cannot unmarshal ${shown} into Go value of type ${goName}`;
  return `json: cannot unmarshal ${shown} into Go struct field ${place.struct}.${place.names} of type ${goName}`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface PropertyPath {
  readonly field: Field;
  /** `VolumeSource.` when the field is inlined from there; else empty. */
  readonly through: string;
}

const pathsOf = new WeakMap<StructType, ReadonlyMap<string, PropertyPath>>();

function propertyPath(struct: StructType, key: string): PropertyPath | undefined {
  let paths = pathsOf.get(struct);
  if (!paths) {
    const all = new Map<string, PropertyPath>();
    for (const [name, field] of struct.properties) all.set(name, { field, through: '' });
    for (const field of struct.fields) {
      if (!field.isInline) continue;
      const inner = field.type.struct;
      for (const name of inner.properties.keys()) {
        const deeper = propertyPath(inner, name)!;
        all.set(name, { field: deeper.field, through: `${inner.name}.${deeper.through}` });
      }
    }
    pathsOf.set(struct, all);
    paths = all;
  }
  return paths.get(key);
}
