/** For tests: definitions that a real kube-apiserver accepts, with every feature of schemas that documents treat specially. */

import type { Definition } from './definitions.ts';

const object = (properties: Record<string, unknown>, rest: object = {}): Record<string, unknown> => ({
  type: 'object',
  properties,
  ...rest,
});
const text = { type: 'string' };
const nullableText = { type: 'string', nullable: true };
const unknown = { 'x-kubernetes-preserve-unknown-fields': true };
const intOrString = { 'x-kubernetes-int-or-string': true };

const widgetSpec = object(
  {
    size: { type: 'string', enum: ['S', 'M', 'L'], default: 'M', title: 'Size' },
    replicas: { type: 'integer', format: 'int32', minimum: 0, nullable: true },
    ratio: { type: 'number', multipleOf: 0.5, maximum: 8, exclusiveMaximum: true },
    name: { type: 'string', minLength: 1, maxLength: 9, pattern: '^[a-z]+$', example: 'abc' },
    port: intOrString,
    portSaid: { ...intOrString, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    portLimited: { ...intOrString, anyOf: [{ minimum: 3 }, { pattern: 'x' }] },
    portInAllOf: { ...intOrString, allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { maximum: 9 }] },
    open: { type: 'object', ...unknown },
    openWithProperties: object({ a: text }, unknown),
    anything: { ...unknown, description: 'whatever' },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, ...unknown },
    embeddedWithSpec: object(
      { spec: object({ a: text }), kind: text },
      { 'x-kubernetes-embedded-resource': true, required: ['spec', 'kind'] },
    ),
    embeddedList: { type: 'array', items: { type: 'object', 'x-kubernetes-embedded-resource': true, ...unknown } },
    items: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      minItems: 1,
      maxItems: 5,
      items: object(
        { name: text, value: { type: 'number', oneOf: [{ minimum: 3 }, { maximum: 1 }] } },
        { required: ['name'] },
      ),
    },
    openItems: { type: 'array', items: unknown },
    labels: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'granular', maxProperties: 4 },
    nullableValues: { type: 'object', additionalProperties: nullableText },
    nullableRequired: object({ a: nullableText, b: text }, { required: ['a', 'b'] }),
    onlyNullableRequired: object({ a: nullableText }, { required: ['a'] }),
    nullableObject: object({ list: { type: 'array', items: text, nullable: true } }, { nullable: true }),
    anyMap: { type: 'object', additionalProperties: true },
    bytes: { type: 'string', format: 'byte' },
    documented: { type: 'boolean', externalDocs: { description: 'more', url: 'https://example.org' } },
    withDefault: object({ on: { type: 'boolean', default: false } }, { default: {} }),
  },
  {
    description: 'What is wanted.',
    required: ['size'],
    anyOf: [{ required: ['port'] }, { not: { required: ['open'] } }],
    'x-kubernetes-validations': [{ rule: "self.size != 'X'", message: 'no X' }],
  },
);

const definition = (spec: Definition['spec']): Definition & { readonly metadata: { readonly name: string } } => ({
  metadata: { name: `${spec.names.plural}.${spec.group}` },
  spec,
});

export const sampleDefinitions = [
  definition({
    group: 'example.org',
    scope: 'Namespaced',
    names: {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['wd'],
      categories: ['all', 'toys'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        selectableFields: [{ jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: object(
            {
              metadata: object({ name: { type: 'string', maxLength: 10 } }),
              spec: widgetSpec,
              status: object({ replicas: { type: 'integer' } }),
            },
            { description: 'A thing to play with.', required: ['spec'] },
          ),
        },
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: 'object', ...unknown } },
      },
      { name: 'v2alpha1', served: false, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  }),
  definition({
    group: 'example.org',
    scope: 'Cluster',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetCollection' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: object({ spec: object({ a: text }) }) },
      },
    ],
  }),
  definition({
    group: 'another.dev',
    scope: 'Cluster',
    names: { plural: 'apples', singular: 'apple', kind: 'Apple' },
    versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  }),
];
