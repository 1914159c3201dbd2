/** Realistic definitions, and a hostile one. */

import type { JsonObject } from '@hangar/api/json';

export const definition = (
  schema: unknown,
  more: Partial<Record<'group' | 'kind' | 'plural' | 'scope', string>> = {},
): JsonObject => {
  const { group = 'example.com', kind = 'Widget', plural = 'widgets', scope = 'Namespaced' } = more;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
};

export const schemaOf = (spec: object, more: object = {}): JsonObject => ({
  type: 'object',
  description: 'A widget.',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec,
  },
  ...more,
});

/** All type features of a structural schema. */
export const everything = definition(
  schemaOf({
    type: 'object',
    required: ['size'],
    properties: {
      size: { type: 'integer', format: 'int64', description: 'How large.\n\nIn metres.', default: 3 },
      ratio: { type: 'number' },
      on: { type: 'boolean', nullable: true },
      colour: { type: 'string', enum: ['red', "bl'ue", '', 'grün'] },
      level: { type: 'integer', enum: [1, 2] },
      maybe: { type: 'string', enum: ['a', null], nullable: true },
      port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      ports: { type: 'array', items: { 'x-kubernetes-int-or-string': true } },
      matrix: { type: 'array', items: { type: 'array', items: { type: 'number', nullable: true } } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      nested: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
      lists: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } } },
      anything: { 'x-kubernetes-preserve-unknown-fields': true },
      open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      half: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { known: { type: 'string' } },
      },
      closed: { type: 'object' },
      free: { type: 'object', additionalProperties: true },
      template: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      job: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { metadata: { type: 'object' }, spec: { type: 'object', properties: { n: { type: 'integer' } } } },
      },
      parts: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, count: { type: 'integer' } },
        },
      },
      'dashed-name': { type: 'string' },
      '1st': { type: 'string' },
      choices: { type: 'array', items: { type: 'string', enum: ['a | b', '(c'] } },
      sole: { type: 'array', items: { type: 'string', enum: ['a | b'] } },
      nullables: { type: 'array', items: { type: 'object', nullable: true, properties: { a: { type: 'string' } } } },
    },
  }),
);

/** A text that attempts to inject code, used in every text field. */
const attack =
  "*/ globalThis.wasHacked = true; /* '; globalThis.wasHacked = true; // `${globalThis.wasHacked = true}`\n\u2028globalThis.wasHacked = true; \\";

export const hostile: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: attack },
  spec: {
    group: attack,
    scope: attack,
    names: { kind: attack, plural: attack },
    versions: [
      {
        name: attack,
        served: true,
        storage: true,
        deprecated: true,
        deprecationWarning: attack,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: attack,
            required: [attack],
            properties: {
              [attack]: { type: 'string', description: attack, enum: [attack, 'a\u202eb'], default: attack },
              __proto__x: { type: 'object', properties: { [attack]: { type: attack, format: attack } } },
              ['__proto__']: { type: 'string' },
              'a: string } } globalThis.wasHacked = true; interface X { b': { type: 'array', items: { enum: [{}] } },
            },
          },
        },
      },
    ],
  },
};
