/** Definitions that use many features of schemas: the tests send objects of them to both servers. */

import type { KubeObject } from '../../object.ts';
import type { JsonSchema } from '../json-schema.ts';

const rule = (text: string, more: object = {}): object => ({ rule: text, ...more });

const gadgetSpec = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 10, pattern: '^[a-z]+$' },
    replicas: { type: 'integer', format: 'int32', minimum: 0, maximum: 10, default: 1 },
    big: { type: 'integer', multipleOf: 3, exclusiveMinimum: true, minimum: 3 },
    ratio: { type: 'number', minimum: 0.5, maximum: 2.5, exclusiveMaximum: true, multipleOf: 0.25 },
    mode: { type: 'string', enum: ['on', 'off', ''] },
    level: { type: 'integer', enum: [1, 2, 3] },
    flag: { type: 'boolean', nullable: true, default: true },
    port: { 'x-kubernetes-int-or-string': true },
    portRange: {
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      pattern: '^[0-9]+%?$',
    },
    when: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    mail: { type: 'string', format: 'email' },
    address: { type: 'string', format: 'ipv4' },
    address6: { type: 'string', format: 'ipv6' },
    network: { type: 'string', format: 'cidr' },
    id: { type: 'string', format: 'uuid' },
    link: { type: 'string', format: 'uri' },
    host: { type: 'string', format: 'hostname' },
    hardware: { type: 'string', format: 'mac' },
    wait: { type: 'string', format: 'duration' },
    data: { type: 'string', format: 'byte' },
    secret: { type: 'string', format: 'password' },
    odd: { type: 'string', format: 'unheard-of' },
    short: { type: 'string', format: 'k8s-short-name' },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' }, maxItems: 4 },
    ports: {
      type: 'array',
      minItems: 1,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['number', 'protocol'],
      items: {
        type: 'object',
        required: ['number'],
        properties: {
          number: { type: 'integer' },
          protocol: { type: 'string', default: 'TCP' },
          label: { type: 'string', maxLength: 5 },
        },
        'x-kubernetes-validations': [rule('self.number != 13')],
      },
    },
    labels: { type: 'object', maxProperties: 3, additionalProperties: { type: 'string', maxLength: 4 } },
    counts: { type: 'object', minProperties: 1, additionalProperties: { type: 'integer', nullable: true } },
    free: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { a: { type: 'string' } } } },
    },
    closed: { type: 'object', additionalProperties: false },
    anything: { 'x-kubernetes-preserve-unknown-fields': true },
    either: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'integer' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
      anyOf: [{ properties: { c: { minimum: 5 } } }, { properties: { c: { maximum: 2 } } }],
      allOf: [{ maxProperties: 3 }, { properties: { a: { maxLength: 3 } } }],
      not: { required: ['b', 'c'] },
    },
    nested: {
      type: 'object',
      default: {},
      properties: {
        depth: {
          type: 'object',
          default: { value: 5 },
          properties: { value: { type: 'integer' }, text: { type: 'string', default: 'x' } },
        },
        list: { type: 'array', items: { type: 'object', properties: { on: { type: 'boolean', default: false } } } },
      },
    },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { spec: { type: 'object', properties: { x: { type: 'string' } } } },
    },
    fixed: { type: 'string', 'x-kubernetes-validations': [rule('self == oldSelf', { message: 'fixed is immutable' })] },
    growing: {
      type: 'integer',
      'x-kubernetes-validations': [
        rule('!oldSelf.hasValue() || self >= oldSelf.value()', {
          optionalOldSelf: true,
          messageExpression: "'must not ' + 'shrink'",
        }),
      ],
    },
    code: {
      type: 'string',
      maxLength: 10,
      'x-kubernetes-validations': [rule('self.size() > 3', { messageExpression: "'code ' + self + ' is short'" })],
    },
    low: { type: 'integer' },
    high: { type: 'integer' },
    title: {
      type: 'string',
      maxLength: 20,
      'x-kubernetes-validations': [
        rule("!self.startsWith('bad')", { reason: 'FieldValueForbidden', message: 'no bad titles' }),
        rule("self != 'double'", { reason: 'FieldValueDuplicate' }),
        rule("self != 'missing'", { reason: 'FieldValueRequired', message: 'give a title' }),
      ],
    },
    steps: {
      type: 'array',
      maxItems: 5,
      items: { type: 'string', maxLength: 6, 'x-kubernetes-validations': [rule("self.matches('^s')")] },
    },
  },
  'x-kubernetes-validations': [
    rule('!has(self.low) || !has(self.high) || self.low <= self.high', {
      message: 'low must not be over high',
      fieldPath: '.low',
    }),
    rule("!has(self.name) || self.name != 'zero' || 1 / (self.replicas - self.replicas) == 1"),
  ],
};

export const gadgetSchema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: gadgetSpec,
    status: {
      type: 'object',
      properties: {
        phase: { type: 'string', enum: ['Ready', 'Waiting'] },
        replicas: { type: 'integer' },
        selector: { type: 'string' },
        items: { type: 'array', items: { type: 'string', minLength: 2 } },
      },
    },
  },
  'x-kubernetes-validations': [rule("self.metadata.name != 'forbidden'", { message: 'that name is taken' })],
} as unknown as JsonSchema;

export function definition(
  kind: string,
  schema: JsonSchema,
  more: { version?: object; spec?: object } = {},
): KubeObject {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.test.example.com` },
    spec: {
      group: 'test.example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more.version }],
      ...more.spec,
    },
  };
}

export const gadgets = definition('Gadget', gadgetSchema, {
  version: {
    subresources: {
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    },
  },
});

/** No status subresource: the status is a field like any other. */
export const plainGadgets = definition('Plain', gadgetSchema);
