/** Objects of built-in kinds in which one list or map is long: validation, defaulting, ownership and printing take slices of it. */

import { apiVersionOf, builtinGroups, schemaOfKind } from '@hangar/api';
import type { BuiltinResource, StructType, ValueType } from '@hangar/api';
import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { get, list, patch, post, size, someAccept } from './input.ts';
import type { Generator as InputGenerator, StallInput } from './input.ts';

/** A list or map of a kind. */
interface Collection {
  readonly resource: BuiltinResource;
  /** Names of the fields that lead to it. */
  readonly path: readonly string[];
}

const depthMax = 6;
/** Other generators cover definitions. Namespaces and APIServices change which requests the server answers. */
const excluded: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition', 'APIService']);

let known: readonly Collection[] | undefined;

/** All lists and maps of all kinds that are stored. */
function collections(): readonly Collection[] {
  known ??= builtinGroups()
    .flatMap(({ versions }) => versions.flatMap(({ resources }) => resources))
    .filter(({ kind, storage, verbs, isServedByDefault }) => {
      return storage && verbs.includes('create') && isServedByDefault && !excluded.has(kind);
    })
    .flatMap((resource) => {
      const schema = schemaOfKind(resource);
      return schema ? [...pathsOf(schema, [])].map((path) => ({ resource, path })) : [];
    });
  return known;
}

function* pathsOf(struct: StructType, above: readonly string[]): Generator<readonly string[]> {
  for (const [name, { type }] of struct.properties) {
    if (above.length === 0 && (name === 'metadata' || name === 'status')) continue;
    yield* pathsOfValue(type, [...above, name]);
  }
}

function* pathsOfValue(type: ValueType, path: readonly string[]): Generator<readonly string[]> {
  if (path.length > depthMax) return;
  if (type.kind === 'struct') yield* pathsOf(type.struct, path);
  if (type.kind !== 'list' && type.kind !== 'map') return;
  yield path;
  yield* pathsOfValue(type.element!, path);
}

/** Fields are filled with values that most validations accept. */
const texts: Readonly<Record<string, (at: number) => string>> = {
  cidr: (at) => `10.${(at >> 8) & 255}.${at & 255}.0/24`,
  except: (at) => `10.0.${at & 255}.0/28`,
  ip: (at) => `10.0.${(at >> 8) & 255}.${at & 255}`,
  addresses: (at) => `10.0.${(at >> 8) & 255}.${at & 255}`,
  operator: () => 'In',
  protocol: () => 'TCP',
  apiVersion: () => 'v1',
  topologyKey: () => 'kubernetes.io/hostname',
  mountPath: (at) => `/m${at}`,
  path: (at) => `/p${at}`,
  expression: () => 'true',
};

class Filler {
  readonly #random: Random;
  readonly #path: readonly string[];
  readonly #count: number;

  constructor(random: Random, path: readonly string[], count: number) {
    this.#random = random;
    this.#path = path;
    this.#count = count;
  }

  struct(struct: StructType, depth: number, onPath: boolean, at: number): Record<string, unknown> {
    const filled: Record<string, unknown> = {};
    for (const [name, { type, isRequired }] of struct.properties) {
      if (depth === 0 && ['metadata', 'status', 'kind', 'apiVersion'].includes(name)) continue;
      const isNext = onPath && this.#path[depth] === name;
      const isComposite = type.kind === 'struct' || type.kind === 'list' || type.kind === 'map';
      const isWanted =
        isNext || isRequired || (!isComposite && ['name', 'key', 'cidr', 'operator', 'port'].includes(name));
      if (!isWanted && !(depth > 0 && depth < 5 && chance(this.#random, isComposite ? 0.1 : 0.15))) continue;
      filled[name] = this.#value(name, type, depth + 1, isNext, at);
    }
    return filled;
  }

  #value(name: string, type: ValueType, depth: number, onPath: boolean, at: number): unknown {
    const isLong = onPath && depth === this.#path.length;
    const length = isLong ? this.#count : 1;
    // In a map of lists, only the map is long: the product would exceed the limit of bodies.
    const goesOn = onPath && !isLong;
    switch (type.kind) {
      case 'struct':
        return this.struct(type.struct, depth, onPath, at);
      case 'list':
        return list(length, (place) => this.#value(name, type.element!, depth, goesOn, length > 1 ? place : at));
      case 'map':
        return Object.fromEntries(
          list(length, (place) => [`k${place}`, this.#value(name, type.element!, depth, goesOn, place)]),
        );
      default:
        return this.#scalar(name, type, at);
    }
  }

  #scalar(name: string, { kind, enumValues }: ValueType, at: number): unknown {
    if (enumValues?.length) return enumValues[at % enumValues.length];
    switch (kind) {
      case 'string':
        return texts[name]?.(at) ?? `n${at}`;
      case 'bool':
        return at % 2 === 0;
      case 'bytes':
        return 'YQ==';
      case 'quantity':
        return `${at}m`;
      case 'time':
        return '2026-01-02T03:04:05Z';
      case 'microtime':
        return '2026-01-02T03:04:05.000000Z';
      case 'duration':
        return '1s';
      case 'raw':
      case 'json':
      case 'any':
        return { a: at };
      case 'fieldsv1':
        return {};
      default:
        return (at % 60_000) + 1;
    }
  }
}

/** Requests about an object whose collection has so many items. */
function longCollection(random: Random, { resource, path }: Collection, count: number): StallInput {
  const apiVersion = apiVersionOf(resource);
  const { group, version, name: plural, kind, namespaced } = resource;
  const name = `b${random.below(1e9)}`;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const objects = `${root}${namespaced ? '/namespaces/default' : ''}/${plural}`;
  const body = new Filler(random, path, count).struct(schemaOfKind(resource)!, 0, true, 0);
  const object = { apiVersion, kind, metadata: { name }, ...body };
  const changed = { ...object, metadata: { name, labels: { a: 'b' } } };
  return {
    name: `${count} items of ${path.join('.')} of ${kind} ${apiVersion}`,
    steps: [
      post(`${objects}?fieldValidation=Ignore`, object),
      get(`${objects}/${name}`, someAccept(random)),
      { method: 'PUT', target: `${objects}/${name}`, body: changed },
      patch(`${objects}/${name}`, 'apply', object),
      get(objects, someAccept(random)),
      { method: 'DELETE', target: `${objects}/${name}` },
    ],
  };
}

export const builtins: InputGenerator = (random) =>
  longCollection(random, pick(random, collections()), size(random, 8_000));
