/**
 * The protobuf form of OpenAPI 2 documents, gnostic's `openapi.v2.Document`, which client-go requests first. Only the parts that
 * Kubernetes' documents use are written. Values without their own schema (extensions, enumerations) are YAML text in it, and JSON is YAML.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { Writer } from '../protobuf/writer.ts';

export const openApiV2ProtobufMediaType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

export function openApiV2Protobuf(document: JsonObject): Buffer {
  const writer = new Writer();
  writeFields(writer, documentFields, document);
  return writer.finish();
}

/** Writes a value without its tag. Messages are preceded by their length. */
interface Codec {
  readonly wireType: 0 | 1 | 2;
  write(writer: Writer, value: unknown): void;
}

type FieldRow = readonly [number: number, key: string, codec: Codec, form?: 'list' | 'named' | 'extensions'];

const text: Codec = { wireType: 2, write: (writer, value) => writer.text(String(value)) };
const bool: Codec = { wireType: 0, write: (writer, value) => writer.byte(value === true ? 1 : 0) };
const integer: Codec = { wireType: 0, write: (writer, value) => writer.integer(Math.trunc(Number(value))) };
const double: Codec = { wireType: 1, write: (writer, value) => writer.double(Number(value)) };
const scalars: ReadonlySet<Codec> = new Set([text, bool, integer, double]);

/** Back to front, as the writer does: the last field first. */
function writeFields(writer: Writer, fields: readonly FieldRow[], value: JsonObject): void {
  for (let index = fields.length - 1; index >= 0; index--) {
    const [number, key, codec, form] = fields[index]!;
    const values = valuesOf(value, key, form);
    // Zeros are not on the wire.
    if (form === undefined && scalars.has(codec) && !values[0]) continue;
    for (let at = values.length - 1; at >= 0; at--) writeField(writer, number, codec, values[at]);
  }
}

function writeField(writer: Writer, number: number, codec: Codec, value: unknown): void {
  codec.write(writer, value);
  writer.varint((number << 3) | codec.wireType);
}

function valuesOf(holder: JsonObject, key: string, form: FieldRow[3]): unknown[] {
  if (form === 'extensions') return Object.entries(holder).filter(([name]) => name.startsWith('x-'));
  if (!Object.hasOwn(holder, key)) return [];
  const value = holder[key];
  if (form === 'list') return Array.isArray(value) ? (value as unknown[]) : [value];
  if (form === 'named') return isObject(value) ? Object.entries(value) : [];
  return value === undefined ? [] : [value];
}

const delimited = (content: (writer: Writer, value: unknown) => void): Codec => ({
  wireType: 2,
  write: (writer, value) => {
    const before = writer.length;
    content(writer, value);
    writer.varint(writer.length - before);
  },
});

/** Fields are a function, because schemas have schemas. */
const message = (fields: () => readonly FieldRow[]): Codec =>
  delimited((writer, value) => isObject(value) && writeFields(writer, fields(), value));

/** A message of one field. */
const wrapped = (number: number, codec: Codec): Codec =>
  delimited((writer, value) => writeField(writer, number, codec, value));

/** An entry of a map: a message of name and value. */
const entry = (codec: Codec): Codec =>
  delimited((writer, value) => {
    const [name, inner] = value as [string, unknown];
    writeField(writer, 2, codec, inner);
    writeField(writer, 1, text, name);
  });

/** A message of all entries of a map. */
const entries = (codec: Codec): Codec =>
  delimited((writer, value) => {
    const pairs = isObject(value) ? Object.entries(value) : [];
    for (let at = pairs.length - 1; at >= 0; at--) writeField(writer, 1, entry(codec), pairs[at]);
  });

/** One of several messages, by the value. */
const choice = (pick: (value: JsonObject) => readonly [number: number, codec: Codec]): Codec =>
  delimited((writer, value) => writeField(writer, ...pick(isObject(value) ? value : {}), value));

const any = wrapped(2, { wireType: 2, write: (writer, value) => writer.text(JSON.stringify(value)) });
const extensions = (number: number): FieldRow => [number, '', entry(any), 'extensions'];

const externalDocs = message(() => [
  [1, 'description', text],
  [2, 'url', text],
]);

const schema: Codec = message(() => schemaFields);
const oneOrMoreTexts = delimited((writer, value) => {
  const texts = Array.isArray(value) ? (value as unknown[]) : [value];
  for (let at = texts.length - 1; at >= 0; at--) writeField(writer, 1, text, texts[at]);
});
const schemaOrBool: Codec = delimited((writer, value) =>
  typeof value === 'boolean' ? writeField(writer, 2, bool, value) : writeField(writer, 1, schema, value),
);

const schemaFields: readonly FieldRow[] = [
  [1, '$ref', text],
  [2, 'format', text],
  [3, 'title', text],
  [4, 'description', text],
  [5, 'default', any],
  [6, 'multipleOf', double],
  [7, 'maximum', double],
  [8, 'exclusiveMaximum', bool],
  [9, 'minimum', double],
  [10, 'exclusiveMinimum', bool],
  [11, 'maxLength', integer],
  [12, 'minLength', integer],
  [13, 'pattern', text],
  [14, 'maxItems', integer],
  [15, 'minItems', integer],
  [16, 'uniqueItems', bool],
  [17, 'maxProperties', integer],
  [18, 'minProperties', integer],
  [19, 'required', text, 'list'],
  [20, 'enum', any, 'list'],
  [21, 'additionalProperties', schemaOrBool],
  [22, 'type', oneOrMoreTexts],
  [23, 'items', wrapped(1, schema)],
  [25, 'properties', entries(schema)],
  [29, 'externalDocs', externalDocs],
  [30, 'example', any],
  extensions(31),
];

const bodyParameter = message(() => [
  [1, 'description', text],
  [2, 'name', text],
  [3, 'in', text],
  [4, 'required', bool],
  [5, 'schema', schema],
]);
const queryParameter = message(() => [
  [1, 'required', bool],
  [2, 'in', text],
  [3, 'description', text],
  [4, 'name', text],
  [6, 'type', text],
  [20, 'uniqueItems', bool],
]);
const pathParameter = message(() => [
  [1, 'required', bool],
  [2, 'in', text],
  [3, 'description', text],
  [4, 'name', text],
  [5, 'type', text],
  [19, 'uniqueItems', bool],
]);
const nonBodyParameter = choice(({ in: place }) => (place === 'path' ? [4, pathParameter] : [3, queryParameter]));
const parameter = choice(({ in: place }) => (place === 'body' ? [1, bodyParameter] : [2, nonBodyParameter]));
const reference = message(() => [[1, '$ref', text]]);
const parameterOrReference = choice((value) => (Object.hasOwn(value, '$ref') ? [2, reference] : [1, parameter]));

const response = message(() => [
  [1, 'description', text],
  [2, 'schema', wrapped(1, schema)],
]);

const operation = message(() => [
  [1, 'tags', text, 'list'],
  [3, 'description', text],
  [5, 'operationId', text],
  [6, 'produces', text, 'list'],
  [7, 'consumes', text, 'list'],
  [8, 'parameters', parameterOrReference, 'list'],
  [9, 'responses', entries(wrapped(1, response))],
  [10, 'schemes', text, 'list'],
  extensions(13),
]);

const pathItem = message(() => [
  [2, 'get', operation],
  [3, 'put', operation],
  [4, 'post', operation],
  [5, 'delete', operation],
  [6, 'options', operation],
  [7, 'head', operation],
  [8, 'patch', operation],
  [9, 'parameters', parameterOrReference, 'list'],
]);
const paths = delimited((writer, value) =>
  writeFields(writer, [[2, 'paths', entry(pathItem), 'named']], { paths: value }),
);

const info = message(() => [
  [1, 'title', text],
  [2, 'version', text],
]);
const apiKey = message(() => [
  [1, 'type', text],
  [2, 'name', text],
  [3, 'in', text],
  [4, 'description', text],
]);

const documentFields: readonly FieldRow[] = [
  [1, 'swagger', text],
  [2, 'info', info],
  [8, 'paths', paths],
  [9, 'definitions', entries(schema)],
  [10, 'parameters', entries(parameter)],
  [12, 'security', entries(oneOrMoreTexts), 'list'],
  [13, 'securityDefinitions', entries(wrapped(2, apiKey))],
];

/** By section of the document: its field, the field of an entry in it, and the codec of an entry's value. */
const sections = {
  paths: [8, 2, pathItem],
  definitions: [9, 1, schema],
  parameters: [10, 1, parameter],
} as const;

/** One entry of a section; all of them in order are the section's content. */
export function openApiV2ProtobufEntry(section: keyof typeof sections, name: string, value: JsonObject): Buffer {
  const [, number, codec] = sections[section];
  const writer = new Writer();
  writeField(writer, number, entry(codec), [name, value]);
  return writer.finish();
}

/** Returns the bytes before the content of a section of this length. */
export function openApiV2ProtobufSection(section: keyof typeof sections, length: number): Buffer {
  const writer = new Writer();
  writer.varint(length);
  writer.varint((sections[section][0] << 3) | 2);
  return writer.finish();
}
