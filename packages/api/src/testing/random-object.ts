/** Makes arbitrary objects of a schema, as JSON: for properties that must hold for every kind. */

import type { Field, StructType, ValueType } from '../builtin/types.ts';

export type Random = () => number;

/** Small, fast, and the same on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const texts = [
  '',
  'a',
  'default',
  'x'.repeat(60),
  'ä',
  '😀 emoji',
  'line\nbreak',
  '\u2028',
  'z'.repeat(300),
  '"quoted"',
];
const keys = ['a', 'b/c', '__proto__', 'constructor', '1', 'ü', '😀', '\uffee', 'Z'];
const integers = [0, 1, -1, 127, 128, 300, 2 ** 31 - 1, -(2 ** 31)];
const samples: Partial<Record<ValueType['kind'], readonly unknown[]>> = {
  string: texts,
  bool: [true, false],
  int32: integers,
  int64: [...integers, 2 ** 40, -(2 ** 45), Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  double: [0, 1.5, -2.25, 1e300],
  bytes: ['', 'aGVsbG8=', Buffer.alloc(200, 7).toString('base64')],
  quantity: ['0', '1', '100m', '1500m', '1Gi', '3e6', '1024', '0.5', '1000', 7],
  intorstring: [0, 8080, -1, '', '25%', 'http'],
  time: ['2026-01-02T03:04:05Z', '1969-12-31T23:59:59Z', '2026-06-01T12:00:00+02:00', '0001-01-01T00:00:00Z'],
  microtime: ['2026-01-02T03:04:05.123456Z', '1969-12-31T23:59:59.000001Z'],
  duration: ['0s', '1m30s', '-1.5h', '10ms'],
  raw: [{ a: [1, 'x', null] }, 'text', 5, {}],
  fieldsv1: [{ 'f:a': {} }, {}],
  json: [{ a: 1 }, 'x', 5, false, [1]],
};

export function randomObject(struct: StructType, random: Random, depth = 0): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [name, field] of struct.properties) {
    if (depth > 6 && ['list', 'map', 'struct'].includes(field.type.kind)) continue;
    if (field.number > 0 && random() < (depth === 0 ? 0.9 : 0.5) / (1 + depth / 6)) {
      object[name] = randomField(field, random, depth);
    }
  }
  return object;
}

function randomField(field: Field, random: Random, depth: number): unknown {
  return random() < 0.05 ? null : randomValue(field.type, random, depth);
}

function randomValue(type: ValueType, random: Random, depth: number): unknown {
  // At least one: protobuf does not distinguish an empty list from an absent one.
  const few = 1 + Math.floor(random() * 2);
  // Go distinguishes nil from empty in JSON, but protobuf does not.
  const isList = type.element?.kind === 'list' || type.element?.kind === 'bytes';
  const element = (): unknown => (random() < 0.05 && !isList ? null : randomValue(type.element!, random, depth + 1));
  switch (type.kind) {
    case 'list':
      return Array.from({ length: few }, element);
    case 'map':
      return Object.fromEntries(Array.from({ length: few }, () => [pick(keys, random), element()]));
    case 'struct':
      return randomStruct(type.struct, random, depth);
    default:
      return pick(samples[type.kind]!, random);
  }
}

function randomStruct(struct: StructType, random: Random, depth: number): unknown {
  if (struct.shape === undefined) return randomObject(struct, random, depth + 1);
  const schema = struct.fields.find(({ name }) => name === 'Schema')!.type.struct;
  if (random() < 0.5 && depth < 8) return randomObject(schema, random, depth + 1);
  if (struct.shape === 'or-bool') return random() < 0.5;
  return struct.shape === 'or-strings' ? ['a', 'b'] : [randomObject(schema, random, depth + 4)];
}

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!;
