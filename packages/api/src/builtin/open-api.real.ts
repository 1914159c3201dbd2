/** The schemas of the table against the OpenAPI documents that a real kube-apiserver publishes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRealServer } from '../testing/real-server.ts';
import type { RealServer } from '../testing/real-server.ts';
import { table } from './table.ts';
import { structIds, structType } from './types.ts';
import type { Field, StructType, ValueType } from './types.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly allOf?: readonly Schema[];
  readonly [extension: `x-kubernetes-${string}`]: unknown;
}

async function publishedSchemas(server: RealServer): Promise<Map<string, Schema>> {
  const read = async <T>(path: string): Promise<T> =>
    JSON.parse((await server.request('GET', path)).body.toString()) as T;
  const { paths } = await read<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
  const schemas = new Map<string, Schema>();
  for (const { serverRelativeURL } of Object.values(paths)) {
    const document = await read<{ components?: { schemas?: Record<string, Schema> } }>(serverRelativeURL);
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) schemas.set(name, schema);
  }
  return schemas;
}

const jsonTypes: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer int32',
  int64: 'integer int64',
  double: 'number double',
  bytes: 'string byte',
  duration: 'string',
};
const referred: Readonly<Record<string, string>> = {
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  intorstring: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  time: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
  microtime: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
  raw: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  fieldsv1: 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
  json: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
};

function shapeOf(type: ValueType): string {
  if (type.kind === 'list') return `[]${shapeOf(type.element!)}`;
  if (type.kind === 'map') return `{}${shapeOf(type.element!)}`;
  // Versions that share a Go type publish it under their own names.
  if (type.kind === 'struct') return type.struct.name;
  return (referred[type.kind]?.split('.').at(-1) ?? jsonTypes[type.kind]!) + (type.enumValues?.join('|') ?? '');
}

function publishedShape(schema: Schema): string {
  if (schema.items) return `[]${publishedShape(schema.items)}`;
  if (schema.additionalProperties) return `{}${publishedShape(schema.additionalProperties)}`;
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) return reference.split('.').at(-1)!;
  return [schema.type, schema.format].filter(Boolean).join(' ') + ([...(schema.enum ?? [])].sort().join('|') ?? '');
}

function published(name: string, schema: Schema): object {
  const property = schema.properties![name]!;
  const strategy = property['x-kubernetes-patch-strategy'] as string | undefined;
  return {
    shape: publishedShape(property),
    isRequired: schema.required?.includes(name) ?? false,
    listType: property['x-kubernetes-list-type'],
    mapKeys: property['x-kubernetes-list-map-keys'] ?? [],
    mapType: property['x-kubernetes-map-type'],
    patchStrategies: strategy?.split(',') ?? [],
    mergeKey: property['x-kubernetes-patch-merge-key'],
  };
}

function known({ type, isRequired, listType, mapKeys, mapType, patchStrategies, mergeKey }: Field): object {
  return { shape: shapeOf(type), isRequired, listType, mapKeys, mapType, patchStrategies, mergeKey };
}

test('every property that the server publishes is in the table, and the other way round', async () => {
  await using server = await startRealServer();
  const schemas = await publishedSchemas(server);
  const structs: StructType[] = Object.keys(table.packages).flatMap((id) => structIds(id).map(structType));
  let compared = 0;
  for (const struct of structs) {
    const schema = schemas.get(struct.openApiName);
    if (!schema || struct.shape !== undefined) continue;
    assert.deepEqual([...struct.properties.keys()].sort(), Object.keys(schema.properties ?? {}).sort(), struct.id);
    assert.equal(struct.isAtomic, schema['x-kubernetes-map-type'] === 'atomic', struct.id);
    for (const [name, field] of struct.properties) {
      assert.deepEqual(known(field), published(name, schema), `${struct.id}.${name}`);
      compared++;
    }
  }
  assert.ok(compared > 2000, `only ${compared} properties`);
});
