/**
 * Writes one type in the table's notation, which `packages/api/src/builtin/notation.ts` reads: see there for the grammar. The Go source
 * defines a field; generated.proto must agree with it; OpenAPI adds what servers publish.
 */

import type { GoField, GoPackage, GoStruct } from './go-source.ts';
import type { OpenApiSchema, OpenApiSchemas } from './open-api.ts';
import type { ApiPackage } from './packages.ts';
import type { ProtoMessages } from './proto-source.ts';

export interface PackageFacts {
  readonly api: ApiPackage;
  readonly go: GoPackage;
  readonly proto: ProtoMessages;
}

export interface Facts {
  readonly packages: ReadonlyMap<string, PackageFacts>;
  readonly openApi: OpenApiSchemas;
}

const builtIn: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  float64: 'double',
  'interface{}': 'any',
};

/** Types with their own JSON form, by import path and name. */
const special: Readonly<Record<string, string>> = {
  'k8s.io/apimachinery/pkg/api/resource.Quantity': 'quantity',
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': 'intorstring',
  'k8s.io/apimachinery/pkg/runtime.RawExtension': 'raw',
  'k8s.io/apimachinery/pkg/apis/meta/v1.Time': 'time',
  'k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime': 'microtime',
  'k8s.io/apimachinery/pkg/apis/meta/v1.Duration': 'duration',
  'k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1': 'fieldsv1',
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON': 'json',
};

/** Structs with several JSON forms. */
const shapes: Readonly<Record<string, string>> = {
  'apiextensions/v1.JSONSchemaPropsOrArray': '@or-array',
  'apiextensions/v1.JSONSchemaPropsOrBool': '@or-bool',
  'apiextensions/v1.JSONSchemaPropsOrStringArray': '@or-strings',
};

/** Returns the notation of a Go type as written in `home`; calls `uses` with every type of the table that it refers to. */
export function typeNotation(facts: Facts, home: PackageFacts, type: string, uses: (id: string) => void): string {
  const inner = (rest: string): string => typeNotation(facts, home, rest, uses);
  if (type.startsWith('*')) return `*${inner(type.slice(1))}`;
  if (type === '[]byte') return 'bytes';
  if (type.startsWith('[]')) return `[]${inner(type.slice(2))}`;
  const [, mapValue] = /^map\[[\w.]+\](.+)$/.exec(type) ?? [];
  if (mapValue !== undefined) return `{}${inner(mapValue)}`;
  if (builtIn[type] !== undefined) return builtIn[type];
  const [name, alias] = type.split('.').reverse() as [string, string | undefined];
  const path = alias === undefined ? home.api.importPath : home.go.imports.get(alias);
  const word = special[`${path}.${name}`];
  if (word !== undefined) return word;
  const owner = [...facts.packages.values()].find(({ api }) => api.importPath === path);
  if (!owner) throw new Error(`${type} in ${home.api.id} is of a package that the table does not have`);
  const isAlias = /^= (.+)$/.exec(owner.go.named.get(name) ?? '');
  if (isAlias) return typeNotation(facts, owner, isAlias[1]!, uses);
  uses(`${owner.api.id}.${name}`);
  return owner === home ? name : `${owner.api.id}.${name}`;
}

export function definition(facts: Facts, home: PackageFacts, name: string, uses: (id: string) => void): string {
  const named = home.go.named.get(name);
  if (named !== undefined) {
    const values = home.go.enums.get(name)?.map((value) => constantOf(facts, home, value));
    if (values?.length === 0) throw new Error(`${home.api.id}.${name} has no values`);
    const suffix = values ? ` ${values.sort().join('|')}` : '';
    // A named list with its own message (`repeated string items = 1`) can be absent, empty or full.
    const sign = home.proto.has(name) && named.startsWith('[]') ? '~' : '=';
    return `${sign}${typeNotation(facts, home, named, uses)}${suffix}`;
  }
  const struct = home.go.structs.get(name);
  if (!struct) throw new Error(`${home.api.id} has no type ${name}`);
  const fields = struct.fields.flatMap((field) => fieldNotation(facts, home, struct, field, uses) ?? []);
  return [header(facts, home, struct), ...fields].join(';');
}

function constantOf(facts: Facts, home: PackageFacts, text: string): string {
  if (text.startsWith('"')) return text.slice(1, -1);
  const [alias = '', name = ''] = text.split('.');
  const path = home.go.imports.get(alias);
  const owner = [...facts.packages.values()].find(({ api }) => api.importPath === path);
  const value = owner?.go.constants.get(name);
  if (value === undefined) throw new Error(`${text} in ${home.api.id} is no constant that is known`);
  return value;
}

function header(facts: Facts, home: PackageFacts, struct: GoStruct): string {
  const schema = facts.openApi.get(`${home.api.openApi}.${struct.name}`);
  const parts: string[] = [];
  if (isKind(struct)) parts.push('@kind');
  if (shapes[`${home.api.id}.${struct.name}`]) parts.push(shapes[`${home.api.id}.${struct.name}`]!);
  if (schema?.['x-kubernetes-map-type']) parts.push(`@${schema['x-kubernetes-map-type']}`);
  for (const union of schema?.['x-kubernetes-unions'] ?? []) {
    const fields = Object.entries(union['fields-to-discriminateBy']).sort();
    parts.push(`@union=${union.discriminator ?? ''}:${fields.map(([field, value]) => `${field}=${value}`).join(',')}`);
  }
  return parts.join(' ');
}

export const isKind = (struct: GoStruct): boolean => struct.fields.some((field) => /(^|\.)TypeMeta$/.test(field.type));

function fieldNotation(
  facts: Facts,
  home: PackageFacts,
  struct: GoStruct,
  field: GoField,
  uses: (id: string) => void,
): string | undefined {
  const [taggedName = '', ...jsonOptions] = (field.tags.get('json') ?? '').split(',');
  const jsonName = taggedName || field.name;
  if (jsonName === '-' || /(^|\.)TypeMeta$/.test(field.type)) return undefined;
  const isInline = (field.name === '' && taggedName === '') || jsonOptions.includes('inline');
  const notation = typeNotation(facts, home, field.type, uses);
  const number = Number(field.tags.get('protobuf')?.split(',')[1] ?? 0);
  checkAgainstProto(home, struct, field, notation, number);
  const schema = propertyOf(facts, home, struct, jsonName);
  const marks =
    (jsonOptions.includes('omitempty') ? '?' : '') +
    (jsonOptions.includes('omitzero') ? 'z' : '') +
    (schema?.required ? '!' : '') +
    (isInline ? '^' : '');
  const canBeAbsent = notation.startsWith('*') || marks.includes('?');
  const parts = [
    isInline ? '' : jsonName,
    String(number),
    notation,
    marks,
    ...extensions(field, schema?.property, canBeAbsent),
  ];
  const text = parts.join(' ').trimEnd();
  if (text.includes(';')) throw new Error(`${text} contains the separator`);
  return isInline ? ` ${text.trimStart()}` : text;
}

function extensions(field: GoField, property: OpenApiSchema | undefined, canBeAbsent: boolean): string[] {
  const parts: string[] = [];
  const listType = property?.['x-kubernetes-list-type'];
  const keys = property?.['x-kubernetes-list-map-keys'];
  if (listType) parts.push(`L=${listType}${keys ? `:${keys.join(',')}` : ''}`);
  if (property?.['x-kubernetes-map-type']) parts.push(`M=${property['x-kubernetes-map-type']}`);
  const strategy = property?.['x-kubernetes-patch-strategy'] ?? field.tags.get('patchStrategy');
  const mergeKey = property?.['x-kubernetes-patch-merge-key'] ?? field.tags.get('patchMergeKey');
  if (strategy) parts.push(`P=${strategy}${mergeKey ? `:${mergeKey}` : ''}`);
  const standard = property?.default;
  // OpenAPI shows a zero as the default of every field that is always written, and {} for every struct: these are implied.
  const isImplied = JSON.stringify(standard) === '{}' || (!canBeAbsent && ['', 0, false].includes(standard as never));
  if (standard !== undefined && !isImplied) parts.push(`D=${JSON.stringify(standard)}`);
  if (parts.some((part) => part.includes(' '))) throw new Error(`${parts.join()} contains the separator`);
  return parts;
}

interface Property {
  readonly property: OpenApiSchema;
  readonly required: boolean;
}

/** Inlined structs are not published separately: the first published struct that inlines them is used. */
function propertyOf(facts: Facts, home: PackageFacts, struct: GoStruct, name: string): Property | undefined {
  const schema = facts.openApi.get(`${home.api.openApi}.${struct.name}`);
  if (schema) {
    const property = schema.properties?.[name];
    return property && { property, required: schema.required?.includes(name) ?? false };
  }
  for (const outer of home.go.structs.values()) {
    if (outer.fields.some((field) => field.name === '' && field.type === struct.name)) {
      const found = propertyOf(facts, home, outer, name);
      if (found) return found;
    }
  }
  return undefined;
}

const protoTypes: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'double',
  bytes: 'bytes',
  quantity: '.k8s.io.apimachinery.pkg.api.resource.Quantity',
  intorstring: '.k8s.io.apimachinery.pkg.util.intstr.IntOrString',
  raw: '.k8s.io.apimachinery.pkg.runtime.RawExtension',
  time: '.k8s.io.apimachinery.pkg.apis.meta.v1.Time',
  microtime: '.k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime',
  duration: '.k8s.io.apimachinery.pkg.apis.meta.v1.Duration',
  fieldsv1: '.k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1',
};

/** A field whose two sources disagree would be encoded wrongly for ever: fail instead. */
function checkAgainstProto(
  home: PackageFacts,
  struct: GoStruct,
  field: GoField,
  notation: string,
  number: number,
): void {
  const message = home.proto.get(struct.name);
  if (!message || number === 0) return;
  const proto = message.get(number);
  const where = `${home.api.id}.${struct.name}.${field.name || field.type}`;
  if (!proto) throw new Error(`${where}: generated.proto has no field ${number}`);
  const expected = protoTypes[notation.replace(/^(\*|\[\]|\{\})+/, '')];
  if (expected === undefined) return;
  const found = proto.type.replace(/^(Time|MicroTime|Duration|FieldsV1)$/, '.k8s.io.apimachinery.pkg.apis.meta.v1.$1');
  if (found !== expected) throw new Error(`${where}: Go says ${notation}, generated.proto says ${proto.type}`);
  const label = notation.startsWith('[]') ? 'repeated' : notation.startsWith('{}') ? 'map' : 'optional';
  if (proto.label !== label) throw new Error(`${where}: Go says ${label}, generated.proto says ${proto.label}`);
}
