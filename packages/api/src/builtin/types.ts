/**
 * The types of the built-in kinds: a view on the generated table that expands a struct on first use. Types are singletons: two fields of
 * the same type share it, and a type may be a key of a Map or WeakMap.
 */

import { assert } from '@hangar/core';
import { readField, readHeader } from './notation.ts';
import type { Shape, Union } from './notation.ts';
import { table } from './table.ts';

/** Kind of a value in JSON and on the wire. `any` is any JSON and has no protobuf. */
export type ValueKind =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  | 'bytes'
  | 'quantity'
  | 'intorstring'
  | 'time'
  | 'microtime'
  | 'duration'
  | 'raw'
  | 'fieldsv1'
  | 'json'
  | 'any'
  | 'list'
  | 'map'
  | 'struct';

const goNames: Readonly<Record<string, string>> = {
  double: 'float64',
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  intorstring: 'intstr.IntOrString',
  time: 'v1.Time',
  microtime: 'v1.MicroTime',
  duration: 'v1.Duration',
  raw: 'runtime.RawExtension',
  fieldsv1: 'v1.FieldsV1',
  json: 'v1.JSON',
  any: 'interface {}',
};

export class ValueType {
  readonly kind: ValueKind;
  /** Name in Go, and so in kube-apiserver's messages. */
  readonly goName: string;
  /** Element type of a list or map. */
  readonly element: ValueType | undefined;
  /** Allowed values of an enumeration; undefined if any value is allowed. */
  readonly enumValues: readonly string[] | undefined;
  /** A list that is a separate message on the wire. */
  readonly isMessageList: boolean;
  readonly #structId: string | undefined;
  #struct: StructType | undefined;

  constructor(kind: ValueKind, goName: string, options: ValueTypeOptions = {}) {
    this.kind = kind;
    this.goName = goName;
    this.element = options.element;
    this.enumValues = options.enumValues;
    this.isMessageList = options.isMessageList ?? false;
    this.#structId = options.struct;
  }

  /** Only for kind `struct`. */
  get struct(): StructType {
    if (this.#struct) return this.#struct;
    assert(this.#structId !== undefined, `${this.goName} is not a struct`);
    return (this.#struct = structType(this.#structId));
  }
}

interface ValueTypeOptions {
  element?: ValueType | undefined;
  enumValues?: readonly string[] | undefined;
  isMessageList?: boolean;
  struct?: string;
}

export interface Field {
  /** Its JSON name; empty when inlined. */
  readonly name: string;
  /** Its protobuf number; 0 when protobuf does not carry it. */
  readonly number: number;
  readonly type: ValueType;
  /** Absence differs from zero. */
  readonly isPointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly isRequired: boolean;
  /** A struct whose fields appear in JSON as the outer struct's own. */
  readonly isInline: boolean;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly mapKeys: readonly string[];
  readonly mapType: 'atomic' | 'granular' | undefined;
  readonly patchStrategies: readonly string[];
  readonly mergeKey: string | undefined;
  /**
   * The explicit default of the API. OpenAPI documents also show zeros for fields that are not pointers and never omitted, and `{}` for
   * structs that are not pointers.
   */
  readonly default: unknown;
}

export class StructType {
  /** `core/v1.Pod`. */
  readonly id: string;
  /** `Pod`. */
  readonly name: string;
  readonly goName: string;
  /** `io.k8s.api.core.v1.Pod`. */
  readonly openApiName: string;
  /** Has apiVersion and kind. */
  readonly isKind: boolean;
  /** Replaced as a whole by server-side apply. */
  readonly isAtomic: boolean;
  readonly shape: Shape | undefined;
  readonly unions: readonly Union[];
  /** As declared: inlined structs are one field, apiVersion and kind are not among them. */
  readonly fields: readonly Field[];
  #properties: ReadonlyMap<string, Field> | undefined;

  constructor(id: string, notation: string) {
    const [packageId, name] = splitId(id);
    this.id = id;
    this.name = name;
    this.goName = goNameOf(packageId, name);
    this.openApiName = `${table.packages[packageId]!.openApi}.${name}`;
    const [header = '', ...fields] = notation.split(';');
    const { isKind, isAtomic, shape, unions } = readHeader(header);
    this.isKind = isKind;
    this.isAtomic = isAtomic;
    this.shape = shape;
    this.unions = unions;
    this.fields = fields.map((text) => fieldOf(text, packageId));
  }

  /** As JSON shows it: inlined fields are expanded, kinds have `kind` and `apiVersion` first. */
  get properties(): ReadonlyMap<string, Field> {
    if (!this.#properties) {
      const properties = new Map<string, Field>();
      if (this.isKind) for (const field of typeMeta) properties.set(field.name, field);
      for (const field of this.fields) {
        if (!field.isInline) properties.set(field.name, field);
        else for (const [name, inner] of field.type.struct.properties) properties.set(name, inner);
      }
      this.#properties = properties;
    }
    return this.#properties;
  }
}

const structs = new Map<string, StructType>();
const values = new Map<string, ValueType>();

/** Returns the struct with the table's id, such as `core/v1.Pod`; an alias of another struct (`core/v1.List`) returns that struct. */
export function structType(id: string): StructType {
  let found = structs.get(id);
  if (!found) {
    const notation = notationOf(id);
    assert(notation !== undefined, `no type ${id}`);
    found = notation.startsWith('=') ? valueType(id, '').struct : new StructType(id, notation);
    structs.set(id, found);
  }
  return found;
}

/** Returns every struct id of a package, in order. */
export function structIds(packageId: string): string[] {
  const types = table.packages[packageId]?.types ?? {};
  return Object.keys(types).flatMap((name) => (/^[=~]/.test(types[name]!) ? [] : [`${packageId}.${name}`]));
}

function notationOf(id: string): string | undefined {
  const [packageId, name] = splitId(id);
  const types = table.packages[packageId]?.types;
  return types && Object.hasOwn(types, name) ? types[name] : undefined;
}

const splitId = (id: string): [packageId: string, name: string] => {
  const at = id.lastIndexOf('.');
  return [id.slice(0, at), id.slice(at + 1)];
};

const goNameOf = (packageId: string, name: string): string => `${packageId.split('/').at(-1)}.${name}`;

/** Parses `notation` without a leading `*`, as seen from a package. */
function valueType(notation: string, home: string): ValueType {
  const isWord = /^[a-z0-9]+$/.test(notation);
  const key = isWord ? notation : `${home} ${notation}`;
  let found = values.get(key);
  if (!found) {
    found = readValueType(notation, home, isWord);
    values.set(key, found);
  }
  return found;
}

function readValueType(notation: string, home: string, isWord: boolean): ValueType {
  if (isWord) return new ValueType(notation as ValueKind, goNames[notation] ?? notation);
  if (notation.startsWith('[]') || notation.startsWith('{}')) {
    const element = valueType(notation.slice(2), home);
    return notation.startsWith('[]')
      ? new ValueType('list', `[]${element.goName}`, { element })
      : new ValueType('map', `map[string]${element.goName}`, { element });
  }
  const id = notation.includes('.') ? notation : `${home}.${notation}`;
  const [packageId, name] = splitId(id);
  const text = notationOf(id);
  assert(text !== undefined, `${notation} in ${home} is not in the table`);
  const goName = goNameOf(packageId, name);
  if (!/^[=~]/.test(text)) return new ValueType('struct', goName, { struct: id });
  // Values may contain spaces: `cert sign`.
  const [, underlying = '', enumeration] = /^.([^ ]+)(?: (.*))?$/.exec(text)!;
  const base = valueType(underlying, packageId);
  if (base.kind === 'struct') return base;
  return new ValueType(base.kind, goName, {
    element: base.element,
    enumValues: enumeration?.split('|'),
    isMessageList: text.startsWith('~'),
  });
}

function fieldOf(text: string, home: string): Field {
  const { name, number, type, marks, ...extensions } = readField(text);
  const isPointer = type.startsWith('*');
  return {
    name,
    number,
    type: valueType(isPointer ? type.slice(1) : type, home),
    isPointer,
    omitEmpty: marks.includes('?'),
    omitZero: marks.includes('z'),
    isRequired: marks.includes('!'),
    isInline: marks.includes('^'),
    ...extensions,
  };
}

const typeMeta = ['kind 0 string ?', 'apiVersion 0 string ?'].map((text) => fieldOf(text, 'meta/v1'));
