/**
 * Type descriptions: declared for variables, fields and functions, and deduced by the checker. `maxElements` (characters, items, entries)
 * comes from a schema and is used only by the cost estimate; it does not affect type equality.
 */

import { allocate, nodeBytes } from './work.ts';

interface Sized {
  readonly maxElements?: number;
}

type PrimitiveKind =
  | 'dyn'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'error';

export interface PrimitiveType extends Sized {
  readonly kind: PrimitiveKind;
}

export interface ListType extends Sized {
  readonly kind: 'list';
  readonly element: Type;
  /** Kubernetes list types change the meaning of `==` and `+`. */
  readonly listType?: 'set' | 'map';
  readonly mapKeys?: readonly string[];
}

export interface MapType extends Sized {
  readonly kind: 'map';
  readonly key: Type;
  readonly value: Type;
}

export interface ObjectField {
  readonly type: Type;
  /** The property's name in JSON, if it was escaped to be a CEL identifier. */
  readonly jsonName?: string;
}

export interface ObjectType extends Sized {
  readonly kind: 'object';
  readonly name: string;
  readonly fields: ReadonlyMap<string, ObjectField>;
}

/** A type of a library, identified only by name (and parameters, as `optional_type`). */
export interface OpaqueType extends Sized {
  readonly kind: 'opaque';
  readonly name: string;
  readonly params: readonly Type[];
}

export interface TypeType extends Sized {
  readonly kind: 'type';
  readonly of: Type;
}

export interface ParamType extends Sized {
  readonly kind: 'param';
  readonly name: string;
}

/** A nullable primitive. */
export interface WrapperType extends Sized {
  readonly kind: 'wrapper';
  readonly of: Type;
}

export type Type = PrimitiveType | ListType | MapType | ObjectType | OpaqueType | TypeType | ParamType | WrapperType;

export const dynType: Type = { kind: 'dyn' };
export const nullType: Type = { kind: 'null' };
export const boolType: Type = { kind: 'bool' };
export const intType: Type = { kind: 'int' };
export const uintType: Type = { kind: 'uint' };
export const doubleType: Type = { kind: 'double' };
export const stringType: Type = { kind: 'string' };
export const bytesType: Type = { kind: 'bytes' };
export const timestampType: Type = { kind: 'timestamp' };
export const durationType: Type = { kind: 'duration' };
export const errorType: Type = { kind: 'error' };

export const listOf = (element: Type): ListType => ({ kind: 'list', element });
export const mapOf = (key: Type, value: Type): MapType => ({ kind: 'map', key, value });
export const typeOf = (of: Type): TypeType => ({ kind: 'type', of });
export const param = (name: string): ParamType => ({ kind: 'param', name });
export const wrapper = (of: Type): WrapperType => ({ kind: 'wrapper', of });
export const opaque = (name: string, ...params: Type[]): OpaqueType => ({ kind: 'opaque', name, params });
export const optionalOf = (of: Type): OpaqueType => opaque('optional_type', of);

export function isOptional(type: Type): type is OpaqueType {
  return type.kind === 'opaque' && type.name === 'optional_type';
}

export function isDyn(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

/** Returns the name of a type as a value and in messages, without parameters. */
export function typeName(type: Type): string {
  switch (type.kind) {
    case 'null':
      return 'null_type';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    case 'duration':
      return 'google.protobuf.Duration';
    case 'object':
    case 'opaque':
    case 'param':
      return type.name;
    default:
      return type.kind;
  }
}

/** `list(int)`, `map(string, dyn)`, `optional_type(int)`. */
export const formatType = (type: Type): string => format(type, typeName);

/** Like `formatType`, as in the checker's messages, where some types have the names that they have in expressions. */
export const shownType = (type: Type): string => format(type, shownName);

function shownName(type: Type): string {
  switch (type.kind) {
    case 'null':
    case 'timestamp':
    case 'duration':
      return type.kind;
    case 'error':
      return '!error!';
    default:
      return typeName(type);
  }
}

function format(type: Type, nameOf: (type: Type) => string): string {
  allocate(nodeBytes);
  const inner = (one: Type): string => format(one, nameOf);
  switch (type.kind) {
    case 'list':
      return `list(${inner(type.element)})`;
    case 'map':
      return `map(${inner(type.key)}, ${inner(type.value)})`;
    case 'type':
      return `type(${inner(type.of)})`;
    case 'wrapper':
      return `wrapper(${inner(type.of)})`;
    case 'opaque':
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(inner).join(', ')})`;
    default:
      return nameOf(type);
  }
}
