/**
 * Translates the table's notation to TypeScript. A name becomes a name of the file of its package; words become their JSON types. Go writes
 * zero times as null unless the field is omitted when empty, so they are nullable there.
 */

import { readField, readHeader } from '../../../packages/api/src/builtin/notation.ts';
import type { FieldNotation } from '../../../packages/api/src/builtin/notation.ts';
import type { Table } from '../../../packages/api/src/builtin/table.ts';

/** `core/v1` and `Pod`. */
export interface TypeName {
  readonly home: string;
  readonly name: string;
}

/** A type as written: the text, and every name in it that is declared elsewhere. */
export interface Written {
  readonly text: string;
  readonly uses: readonly TypeName[];
}

/** A word → its name in `values.ts`, or the TypeScript type. */
const words: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  double: 'number',
  bytes: 'Bytes',
  quantity: 'Quantity',
  intorstring: 'IntOrString',
  time: 'Time',
  microtime: 'MicroTime',
  duration: 'Duration',
  raw: 'JsonObject',
  fieldsv1: 'JsonObject',
  json: 'JsonValue',
  any: 'JsonValue',
};

export const valuesHome = 'values';
const isValue = (text: string): boolean => /^[A-Z]/.test(text);

/** Declared in packages/api, by hand: the types of `metadata` are shared. */
const ofApi = new Set(['ObjectMeta', 'OwnerReference', 'ManagedFieldsEntry']);
export const apiHome = 'api';

/** Closed by validation, although their Go types are not marked so. */
const closed: Readonly<Record<string, string>> = {
  ConditionStatus: '=string False|True|Unknown',
  ConversionStrategyType: '=string None|Webhook',
  DeletionPropagation: '=string Background|Foreground|Orphan',
  LabelSelectorOperator: '=string DoesNotExist|Exists|In|NotIn',
  ResourceScope: '=string Cluster|Namespaced',
};

export function notationOf(table: Table, { home, name }: TypeName): string {
  const text = table.packages[home]?.types[name];
  if (text === undefined) throw new Error(`the table has no ${home}.${name}`);
  return text === '=string' ? (closed[name] ?? text) : text;
}

function resolve(notation: string, home: string): TypeName {
  const dot = notation.lastIndexOf('.');
  return dot === -1 ? { home, name: notation } : { home: notation.slice(0, dot), name: notation.slice(dot + 1) };
}

/** Translates a type of a package's field or named type. */
export function writeType(table: Table, notation: string, home: string): Written {
  if (notation.startsWith('*')) return writeType(table, notation.slice(1), home);
  if (notation.startsWith('[]')) return wrapped(writeType(table, notation.slice(2), home), (text) => `${text}[]`);
  if (notation.startsWith('{}')) {
    return wrapped(writeType(table, notation.slice(2), home), (text) => `Record<string, ${text}>`);
  }
  const word = words[notation];
  if (word !== undefined) return { text: word, uses: isValue(word) ? [{ home: valuesHome, name: word }] : [] };
  const named = resolve(notation, home);
  if (named.home === 'meta/v1' && ofApi.has(named.name)) {
    return { text: named.name, uses: [{ home: apiHome, name: named.name }] };
  }
  const text = notationOf(table, named);
  // A name for a plain string adds nothing to the field's own name; a name for another type is that type.
  const other = /^=([a-z0-9]+|[a-z0-9/]+\.\w+)$/.exec(text);
  if (other) return writeType(table, other[1]!, named.home);
  return { text: named.name, uses: [named] };
}

const wrapped = ({ text, uses }: Written, wrap: (text: string) => string): Written => ({
  text: wrap(text.includes(' | ') ? `(${text})` : text),
  uses,
});

export interface Property extends Written {
  readonly name: string;
  readonly isRequired: boolean;
}

export type Declaration =
  | ({ readonly type: 'alias' } & Written)
  | {
      readonly type: 'struct';
      readonly isKind: boolean;
      /** A kind with the common metadata, which is not among the properties. */
      readonly isObject: boolean;
      /** Structs that are inlined in JSON. */
      readonly inlined: readonly TypeName[];
      readonly properties: readonly Property[];
    };

/** Returns the declaration of a name in the table. */
export function declarationOf(table: Table, type: TypeName): Declaration {
  const notation = notationOf(table, type);
  if (/^[=~]/.test(notation)) return aliasOf(table, notation, type.home);
  const [header = '', ...texts] = notation.split(';');
  const { isKind, shape } = readHeader(header);
  const fields = texts.map(readField);
  if (shape !== undefined) return shaped(table, fields, type.home);
  const isInline = ({ marks }: FieldNotation): boolean => marks.includes('^');
  const isMetadata = ({ name, type }: FieldNotation): boolean =>
    isKind && name === 'metadata' && type === 'meta/v1.ObjectMeta';
  return {
    type: 'struct',
    isKind,
    isObject: fields.some(isMetadata),
    inlined: fields.filter(isInline).map((field) => resolve(field.type, type.home)),
    properties: fields
      .filter((field) => !isInline(field) && !isMetadata(field))
      .map((field) => propertyOf(table, field, type.home)),
  };
}

function aliasOf(table: Table, notation: string, home: string): Declaration {
  // Values may contain spaces: `cert sign`.
  const [, underlying = '', values] = /^.([^ ]+)(?: (.*))?$/.exec(notation)!;
  if (values === undefined) return { type: 'alias', ...writeType(table, underlying, home) };
  const text = values.split('|').map((value) => (value === '' ? "''" : `'${value}'`));
  return { type: 'alias', text: text.join(' | '), uses: [] };
}

function propertyOf(table: Table, { name, type, marks }: FieldNotation, home: string): Property {
  const written = writeType(table, type, home);
  const isRequired = marks.includes('!');
  const isNullable = /^(micro)?time$/.test(type) && !isRequired && !marks.includes('z');
  return { name, isRequired, ...written, text: isNullable ? `${written.text} | null` : written.text };
}

/** Several JSON forms: any of its fields, without a name. */
function shaped(table: Table, fields: readonly FieldNotation[], home: string): Declaration {
  const written = fields.map(({ type }) => writeType(table, type, home));
  return {
    type: 'alias',
    text: written.map(({ text }) => text).join(' | '),
    uses: written.flatMap(({ uses }) => uses),
  };
}
