/** CustomResourceDefinitions: defaults that multiply, deep and wide schemas, lists that must be unique, columns. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { definition } from './expressions.ts';
import { definitions, get, list, patch, post, record, size, someAccept, text } from './input.ts';
import type { Generator, Step, StallInput } from './input.ts';

type Schema = Record<string, unknown>;

/** A schema whose default holds `breadth` items on each of `levels` levels. The items get their own defaults in turn. */
function multiplying(random: Random, levels: number, breadth: () => number): Schema {
  if (levels === 0) return { type: 'string', default: 'x' };
  const inner = multiplying(random, levels - 1, breadth);
  const item = { type: 'object', properties: { n: inner } };
  switch (random.below(3)) {
    case 0:
      return { type: 'array', items: item, default: list(breadth(), () => ({})) };
    case 1:
      return { type: 'object', additionalProperties: item, default: record(breadth(), () => ({})) };
    default:
      return {
        type: 'object',
        default: {},
        properties: record(Math.ceil(Math.sqrt(breadth())), () => ({ ...item, default: {} })),
      };
  }
}

const deep = (depth: number, kind: 'object' | 'array'): Schema => {
  let schema: Schema = { type: 'string' };
  for (let at = 0; at < depth; at++) {
    schema = kind === 'object' ? { type: 'object', properties: { n: schema } } : { type: 'array', items: schema };
  }
  return schema;
};

/** Requests that read and write objects of a definition in several forms. */
function used(random: Random, objects: string, kind: string, spec?: unknown): Step[] {
  const apiVersion = objects.split('/').slice(2, 4).join('/');
  const object = (name: string): object => ({
    apiVersion,
    kind,
    metadata: { name },
    ...(spec !== undefined && { spec }),
  });
  return [
    post(`${objects}?dryRun=All`, object('d')),
    post(objects, object('a')),
    get(`${objects}/a`, someAccept(random)),
    get(objects, someAccept(random)),
    patch(`${objects}/a`, pick(random, ['merge', 'apply']), {
      apiVersion,
      kind,
      metadata: { name: 'a', labels: { a: 'b' } },
    }),
  ];
}

function whole(random: Random, name: string, schema: Schema, spec?: unknown, version: object = {}): StallInput {
  const id = `d${random.below(1e9)}`;
  const objects = `/apis/${id}.example.com/v1/things`;
  return {
    name,
    steps: [
      post(definitions, definition(id, 'things', schema, version)),
      { method: 'GET', target: objects, untilServed: true },
      ...used(random, objects, 'Thing', spec),
      { method: 'DELETE', target: `${definitions}/things.${id}.example.com` },
    ],
  };
}

/** Defaults within defaults. */
export const defaults: Generator = (random) => {
  const levels = 1 + random.below(6);
  const each = size(random, 200);
  const inner = multiplying(random, levels, () => each);
  const schema = { type: 'object', default: {}, properties: { a: inner } };
  return whole(random, `defaults of ${each} on ${levels} levels`, schema);
};

/** An object that is stored before its definition gets defaults for each of its items. */
export const laterDefaults: Generator = (random) => {
  const id = `l${random.below(1e9)}`;
  const [items, levels, each] = [size(random, 1_000), 1 + random.below(3), size(random, 60)];
  const before = { type: 'object', properties: { list: { type: 'array', items: { type: 'object', properties: {} } } } };
  const after = {
    type: 'object',
    properties: {
      list: {
        type: 'array',
        items: { type: 'object', properties: { n: multiplying(random, levels, () => each) } },
      },
    },
  };
  const objects = `/apis/${id}.example.com/v1/things`;
  const object = { apiVersion: `${id}.example.com/v1`, kind: 'Thing', metadata: { name: 'a' } };
  return {
    name: `${items} stored items, then a default of ${each} on ${levels} levels for each`,
    steps: [
      post(definitions, definition(id, 'things', before)),
      { method: 'GET', target: objects, untilServed: true },
      post(objects, { ...object, spec: { list: list(items, () => ({})) } }),
      patch(`${definitions}/things.${id}.example.com`, 'merge', {
        spec: (definition(id, 'things', after) as { spec: object }).spec,
      }),
      get(`${objects}/a`, someAccept(random)),
      get(objects, someAccept(random)),
      patch(`${objects}/a`, 'merge', { metadata: { labels: { a: 'b' } } }),
      { method: 'DELETE', target: `${objects}/a` },
      { method: 'DELETE', target: `${definitions}/things.${id}.example.com` },
    ],
  };
};

/** Schemas that are deep or wide, and objects that fill them. */
export const schemas: Generator = (random) => {
  const kind = pick(random, ['deep', 'wide', 'unique', 'keyed', 'choices', 'pattern', 'columns', 'free'] as const);
  const spec = (properties: Record<string, unknown>): Schema => ({ type: 'object', properties });
  switch (kind) {
    case 'deep': {
      const depth = size(random, 400);
      const type = pick(random, ['object', 'array'] as const);
      let value: unknown = 'x';
      for (let at = 0; at < depth; at++) value = type === 'object' ? { n: value } : [value];
      return whole(random, `a schema of ${depth} nested ${type}s`, spec({ a: deep(depth, type) }), { a: value });
    }
    case 'wide': {
      const width = size(random, 2_000);
      const filled = Math.min(width, size(random, 2_000));
      const schema = spec(record(width, () => ({ type: 'string', description: 'x' })));
      return whole(
        random,
        `a schema of ${width} properties, ${filled} filled`,
        schema,
        record(filled, () => 'v'),
      );
    }
    case 'unique': {
      const count = size(random, 5_000);
      const items = pick(random, [{ type: 'string' }, { type: 'integer' }]);
      const schema = spec({ a: { type: 'array', 'x-kubernetes-list-type': 'set', items } });
      const value = list(count, (at) => (items.type === 'string' ? `s${at}` : at));
      return whole(random, `a set of ${count} items`, schema, { a: value });
    }
    case 'keyed': {
      const count = size(random, 3_000);
      const items = { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'string' } } };
      const schema = spec({
        a: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items },
      });
      return whole(random, `a keyed list of ${count}`, schema, { a: list(count, (at) => ({ k: `k${at}`, v: 'v' })) });
    }
    case 'choices': {
      const [count, items] = [size(random, 100), size(random, 1_000)];
      const branch = (at: number): Schema => ({ required: [`p${at}`], properties: { [`p${at}`]: { minLength: 3 } } });
      const which = pick(random, ['anyOf', 'allOf', 'oneOf']);
      const item = {
        type: 'object',
        properties: record(count, () => ({ type: 'string' }), 'p'),
        [which]: list(count, branch),
      };
      const schema = spec({ a: { type: 'array', items: item } });
      return whole(random, `${which} of ${count} for ${items} items`, schema, { a: list(items, () => ({ p0: 'x' })) });
    }
    case 'pattern': {
      const length = size(random, 20_000);
      const pattern = pick(random, ['^(a+)+$', '^(a|aa)+$', '(.*)*x', '^a{0,900}a{0,900}$', '^.*.*.*.*b$']);
      const schema = spec({ a: { type: 'array', items: { type: 'string', pattern } } });
      const items = size(random, 50);
      const value = { a: list(items, () => `${'a'.repeat(length)}!`) };
      return whole(random, `${items} strings of ${length} against ${pattern}`, schema, value);
    }
    case 'columns': {
      const count = size(random, 100);
      const items = size(random, 1_000);
      const jsonPath = pick(random, ['.spec.a[*].b', '.spec', '.spec.a[0].b', '.metadata.labels.a']);
      const columns = list(count, (at) => ({ name: `c${at}`, type: 'string', jsonPath }));
      const inner = { type: 'object', properties: { b: { type: 'string' } } };
      const schema = spec({ a: { type: 'array', items: inner } });
      const version = { additionalPrinterColumns: columns };
      const value = { a: list(items, () => ({ b: text(random, 20) })) };
      return whole(random, `${count} columns of ${jsonPath} with ${items} items`, schema, value, version);
    }
    case 'free': {
      const count = size(random, 20_000);
      const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
      const isFlat = chance(random, 0.5);
      const value = isFlat ? record(count, () => 1) : { a: list(count, () => ({})) };
      return whole(random, `${count} ${isFlat ? 'keys' : 'items'} without a schema`, schema, value);
    }
  }
};
