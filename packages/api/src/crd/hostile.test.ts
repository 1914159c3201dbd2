/** Schemas and objects that are made to hurt: everything ends soon, and nothing is confused with the language's own names. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { invalidObject } from '../status/status.ts';
import { compileVersion, definitionStrategy } from './index.ts';
import type { CompiledVersion, JsonSchema } from './index.ts';
import { definition } from './testing/definitions.ts';

function versionOf(spec: object): CompiledVersion {
  const schema = { type: 'object', properties: { spec } } as unknown as JsonSchema;
  return compileVersion(definition('Thing', schema), 'v1')!;
}

function created(
  spec: object,
  value: unknown,
): { errors: readonly string[]; object: KubeObject; problems: readonly string[] } {
  const version = versionOf(spec);
  const text = JSON.stringify({ apiVersion: 'test.example.com/v1', kind: 'Thing', metadata: { name: 'x' } });
  const object = { ...(JSON.parse(text) as KubeObject), spec: value };
  const { problems } = version.decode(object);
  version.strategy.applyDefaults(object);
  const errors = version.strategy.validateCreate(object);
  const status = invalidObject(version, 'x', errors).status;
  return { errors: status.details?.causes?.map(({ message = '' }) => message) ?? [], object, problems };
}

function within(run: () => void): void {
  const start = performance.now();
  run();
  const took = performance.now() - start;
  assert.ok(took < 15_000, `took ${took.toFixed(0)} ms`);
}

function validated(schema: JsonSchema): number {
  const crd = definition('Thing', schema);
  definitionStrategy.applyDefaults(crd);
  definitionStrategy.prepareForCreate(crd);
  return definitionStrategy.validateCreate(crd).length;
}

test('names of the language are names like any other', () => {
  const schema = {
    type: 'object',
    properties: JSON.parse(
      '{"__proto__":{"type":"string","default":"d"},"constructor":{"type":"integer","default":1}}',
    ) as object,
    required: ['toString'],
  };
  const { object, errors, problems } = created(schema, JSON.parse('{"hasOwnProperty":1}'));
  const spec = object['spec'] as object;
  assert.deepEqual(problems, ['unknown field "spec.hasOwnProperty"']);
  assert.equal(Object.getOwnPropertyDescriptor(spec, '__proto__')?.value, 'd');
  assert.equal(Object.getOwnPropertyDescriptor(spec, 'constructor')?.value, 1);
  assert.deepEqual(errors, ['Required value']);
  assert.equal(Object.getPrototypeOf(spec), Object.prototype);
});

test('patterns that would never end elsewhere end', () => {
  within(() => {
    const { errors } = created(
      { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
      { a: `${'a'.repeat(100_000)}!` },
    );
    assert.equal(errors.length, 1);
  });
});

test('formats look at a long text once', () => {
  for (const format of [
    'duration',
    'email',
    'hostname',
    'uri',
    'cidr',
    'mac',
    'byte',
    'date-time',
    'creditcard',
    'rgbcolor',
    'isbn',
    'k8s-long-name',
    'ipv4',
    'ipv6',
  ]) {
    for (const text of ['1', '0', 'a', '.', ' ', ':', 'a.', '1 ', '"', '<']) {
      within(() =>
        created({ type: 'object', properties: { a: { type: 'string', format } } }, { a: text.repeat(300_000) }),
      );
    }
  }
});

test('many values of a long enum are found at once', () => {
  const many = Array.from({ length: 50_000 }, (_, i) => i);
  within(() => {
    const { errors } = created(
      { type: 'object', properties: { a: { type: 'array', items: { type: 'integer', enum: many } } } },
      { a: many.map((i) => i + 40_000) },
    );
    assert.ok(errors.length > 0 && errors.length <= 10_000);
  });
});

test('an answer does not grow with the number of errors', () => {
  const items = {
    type: 'array',
    'x-kubernetes-list-type': 'set',
    items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'false', message: 'm'.repeat(10_000) }] },
  };
  const value = { ['k'.repeat(100_000)]: Array.from({ length: 100_000 }, (_, i) => `v${i % 50_000}`) };
  within(() => {
    const { errors } = created({ type: 'object', additionalProperties: items }, value);
    assert.ok(errors.length > 0 && errors.length < 200);
  });
});

test('deep objects and schemas are walked', () => {
  let schema: object = { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == self' }] };
  let value: unknown = 'x';
  for (let i = 0; i < 450; i++) {
    schema = {
      type: 'object',
      properties: { a: schema },
      default: {},
      'x-kubernetes-validations': [{ rule: 'has(self.a)' }],
    };
    value = { a: value };
  }
  within(() => {
    assert.deepEqual(created(schema, value).errors, []);
    validated({ type: 'object', properties: { spec: schema } } as JsonSchema);
  });
});

test('rules on every level of a wide schema are checked in time', () => {
  let schema: object = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p${i}`, { type: 'string' }])),
  };
  for (let i = 0; i < 100; i++) {
    schema = {
      type: 'array',
      items: { type: 'object', properties: { a: schema }, 'x-kubernetes-validations': [{ rule: 'true' }] },
    };
  }
  within(() => validated({ type: 'object', properties: { spec: schema } } as JsonSchema));
});

test('alternatives of alternatives end', () => {
  let schema: object = { minLength: 5 };
  for (let i = 0; i < 8; i++) schema = { anyOf: [schema, schema], oneOf: [schema] };
  within(() => void created({ type: 'object', properties: { a: { type: 'string', ...schema } } }, { a: 'x' }));
});
