/** The conformance data's JSON form of types and values, as ours. Only tests use it. */

import { noSuchOverload } from './errors.ts';
import { method, overload } from './environment.ts';
import type { Library } from './environment.ts';
import * as t from './types.ts';
import type { Type } from './types.ts';
import { canonical } from './values/integers.ts';
import { ValueList } from './values/list.ts';
import { ValueMap } from './values/map.ts';
import { parseDuration, parseTimestamp } from './values/time.ts';
import { Double, TypeValue, Uint } from './values/values.ts';
import type { CelValue } from './values/values.ts';

export interface ValueMessage {
  readonly nullValue?: unknown;
  readonly boolValue?: boolean;
  readonly int64Value?: string;
  readonly uint64Value?: string;
  readonly doubleValue?: number | string;
  readonly stringValue?: string;
  readonly bytesValue?: string;
  readonly typeValue?: string;
  readonly listValue?: { readonly values?: readonly ValueMessage[] };
  readonly mapValue?: { readonly entries?: readonly { readonly key: ValueMessage; readonly value: ValueMessage }[] };
  readonly objectValue?: { readonly '@type': string; readonly value?: unknown };
}

export interface TypeMessage {
  readonly dyn?: unknown;
  readonly null?: unknown;
  readonly primitive?: string;
  readonly wrapper?: string;
  readonly wellKnown?: string;
  readonly typeParam?: string;
  readonly messageType?: string;
  readonly type?: TypeMessage;
  readonly listType?: { readonly elemType: TypeMessage };
  readonly mapType?: { readonly keyType: TypeMessage; readonly valueType: TypeMessage };
  readonly abstractType?: { readonly name: string; readonly parameterTypes?: readonly TypeMessage[] };
}

interface Declaration {
  readonly name: string;
  readonly ident?: { readonly type: TypeMessage };
  readonly function?: {
    readonly overloads: readonly {
      readonly overloadId: string;
      readonly params?: readonly TypeMessage[];
      readonly resultType: TypeMessage;
      readonly isInstanceFunction?: boolean;
    }[];
  };
}

export interface ConformanceTest {
  readonly name?: string;
  readonly expr: string;
  readonly value?: ValueMessage;
  readonly typedResult?: { readonly result?: ValueMessage; readonly deducedType?: TypeMessage };
  readonly evalError?: unknown;
  readonly typeEnv?: readonly Declaration[];
  readonly bindings?: Readonly<Record<string, { readonly value: ValueMessage }>>;
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
}

export function expectedValue(message: ValueMessage): CelValue {
  if (message.boolValue !== undefined) return message.boolValue;
  if (message.int64Value !== undefined) return canonical(BigInt(message.int64Value));
  if (message.uint64Value !== undefined) return new Uint(BigInt(message.uint64Value));
  if (message.doubleValue !== undefined) return new Double(Number(message.doubleValue));
  if (message.stringValue !== undefined) return message.stringValue;
  if (message.bytesValue !== undefined) return new Uint8Array(Buffer.from(message.bytesValue, 'base64'));
  if (message.typeValue !== undefined) return new TypeValue(message.typeValue);
  if (message.listValue !== undefined) return new ValueList((message.listValue.values ?? []).map(expectedValue));
  if (message.mapValue !== undefined) {
    const entries = message.mapValue.entries ?? [];
    return new ValueMap(entries.map(({ key, value }) => [expectedValue(key), expectedValue(value)] as const));
  }
  const object = message.objectValue;
  if (object === undefined) return null;
  if (object['@type'].endsWith('.Duration')) return parseDuration(String(object.value));
  if (object['@type'].endsWith('.Timestamp')) return parseTimestamp(String(object.value));
  throw new Error(`no value of type ${object['@type']}`);
}

const primitives: Readonly<Record<string, Type>> = {
  BOOL: t.boolType,
  INT64: t.intType,
  UINT64: t.uintType,
  DOUBLE: t.doubleType,
  STRING: t.stringType,
  BYTES: t.bytesType,
  TIMESTAMP: t.timestampType,
  DURATION: t.durationType,
  ANY: t.dynType,
};

export function expectedType(message: TypeMessage): Type {
  if (message.primitive !== undefined) return primitives[message.primitive]!;
  if (message.wellKnown !== undefined) return primitives[message.wellKnown]!;
  if (message.wrapper !== undefined) return t.wrapper(primitives[message.wrapper]!);
  if (message.listType !== undefined) return t.listOf(expectedType(message.listType.elemType));
  if (message.mapType !== undefined)
    return t.mapOf(expectedType(message.mapType.keyType), expectedType(message.mapType.valueType));
  if (message.typeParam !== undefined) return t.param(message.typeParam);
  if (message.type !== undefined) return t.typeOf(expectedType(message.type));
  if (message.abstractType !== undefined) {
    return t.opaque(message.abstractType.name, ...(message.abstractType.parameterTypes ?? []).map(expectedType));
  }
  if (message.messageType === 'google.protobuf.Duration') return t.durationType;
  if (message.messageType === 'google.protobuf.Timestamp') return t.timestampType;
  if (message.messageType !== undefined) return { kind: 'object', name: message.messageType, fields: new Map() };
  return 'null' in message ? t.nullType : t.dynType;
}

/** Declared functions have no implementation: the tests only check their types. */
export function declarations(list: readonly Declaration[]): { variables: Record<string, Type>; library: Library } {
  const variables: Record<string, Type> = {};
  const functions: Record<string, ReturnType<typeof overload>[]> = {};
  for (const { name, ident, function: declared } of list) {
    if (ident !== undefined) variables[name] = expectedType(ident.type);
    for (const one of declared?.overloads ?? []) {
      const make = one.isInstanceFunction ? method : overload;
      const params = (one.params ?? []).map(expectedType);
      (functions[name] ??= []).push(make(one.overloadId, params, expectedType(one.resultType), () => noSuchOverload()));
    }
  }
  return { variables, library: { name: 'declared', functions } };
}
