/** Makes something else of a JSON value: mostly plausible, often wrong. */

import { isObject } from '@hangar/api';
import type { JsonObject, StructType } from '@hangar/api';
import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { randomObject } from '../../../../packages/api/src/testing/random-object.ts';

const texts = [
  '',
  'a',
  'A_b',
  'x'.repeat(64),
  'x'.repeat(254),
  'a b',
  'ü',
  '-a',
  'a.b/c',
  '1',
  '100%',
  '5Gi',
  'true',
  '1.2.3.4',
];
const numbers = [0, 1, -1, 2, 65_536, 2 ** 31, 2 ** 53, 1.5, 1e21];

export function mutate(random: Random, value: unknown, times = 1 + random.below(2)): unknown {
  let mutated = structuredClone(value);
  for (; times > 0; times--) mutated = mutateOnce(random, mutated, 0);
  return mutated;
}

function mutateOnce(random: Random, value: unknown, depth: number): unknown {
  const isDeeper = depth === 0 || chance(random, 0.75);
  if (Array.isArray(value) && value.length > 0 && isDeeper) {
    const at = random.below(value.length);
    return value.with(at, mutateOnce(random, value[at], depth + 1));
  }
  if (isObject(value) && Object.keys(value).length > 0 && isDeeper) {
    const key = pick(random, Object.keys(value));
    return changedKey(random, value, key, depth);
  }
  return replaced(random, value);
}

function changedKey(random: Random, value: JsonObject, key: string, depth: number): JsonObject {
  switch (random.below(8)) {
    case 0: {
      const { [key]: _gone, ...rest } = value;
      return rest;
    }
    case 1:
      return { ...value, [pick(random, ['unknown', `${key}x`, key.toUpperCase()])]: value[key] };
    default:
      return { ...value, [key]: mutateOnce(random, value[key], depth + 1) };
  }
}

function replaced(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && chance(random, 0.7)) return changedList(random, value);
  if (chance(random, 0.25)) return pick(random, [null, {}, [], true, 'text', 7, ['x'], { a: 'b' }]);
  switch (typeof value) {
    case 'string':
      return pick(random, [pick(random, texts), `${value}x`, value.toUpperCase(), `${value} `, value.slice(1)]);
    case 'number':
      return pick(random, [pick(random, numbers), value + 1, -value, String(value)]);
    case 'boolean':
      return !value;
    default:
      return pick(random, [null, {}, 'text']);
  }
}

function changedList(random: Random, list: readonly unknown[]): unknown[] {
  switch (random.below(4)) {
    case 0:
      return list.toReversed();
    case 1:
      return [...list, ...list.slice(0, 1)];
    case 2:
      return list.slice(1);
    default:
      return [...list, pick(random, [null, {}, 'text', 1])];
  }
}

/** Fields of the kind that no sample has, with values of their type. */
export function withRandomFields(random: Random, struct: StructType, body: JsonObject): JsonObject {
  const made = randomObject(struct, () => random.fraction()) as JsonObject;
  const names = Object.keys(made).filter((name) => name !== 'metadata' && name !== 'kind' && name !== 'apiVersion');
  if (names.length === 0) return body;
  const name = pick(random, names);
  const [mine, theirs] = [body[name], made[name]];
  if (!isObject(mine) || !isObject(theirs) || Object.keys(theirs).length === 0) return { ...body, [name]: theirs };
  const inner = pick(random, Object.keys(theirs));
  return { ...body, [name]: { ...mine, [inner]: theirs[inner] } };
}

/** Some of the fields, as one who applies would state them. */
export function part(random: Random, value: JsonObject, keep = 0.7): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(() => chance(random, keep))
      .map(([key, one]) => [key, isObject(one) && chance(random, 0.3) ? part(random, one, 0.85) : one]),
  );
}
