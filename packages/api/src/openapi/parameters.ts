/** Parameters of operations: those of the path, and those of an options kind of the API. */

import type { StructType, ValueType } from '../builtin/types.ts';
import { by } from '../discovery/order.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly type: 'string' | 'boolean' | 'integer';
}

const query = (name: string): Parameter => ({ name, in: 'query', type: 'string' });
const path = (name: string): Parameter => ({ name, in: 'path', type: 'string' });

export const pathParameters = { name: path('name'), namespace: path('namespace'), path: path('path') } as const;
export const pretty: Parameter = query('pretty');

const types: Readonly<Record<string, Parameter['type']>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
};

/** A query parameter for every field that is a scalar, or a list of them; `except` by name. */
export function optionParameters(options: StructType, except: readonly string[] = []): Parameter[] {
  return options.fields.flatMap(({ name, type }) => {
    const scalar = types[scalarOf(type).kind];
    return scalar === undefined || except.includes(name) ? [] : [{ name, in: 'query', type: scalar } as const];
  });
}

const scalarOf = (type: ValueType): ValueType => (type.kind === 'list' ? type.element! : type);

/** Moves parameters that all operations of a path share to the path. By name, in order. */
export function liftCommon(lists: readonly (readonly Parameter[])[]): { common: Parameter[]; rest: Parameter[][] } {
  const keyOf = (one: Parameter): string => `${one.in} ${one.name} ${one.type}`;
  const others = lists.slice(1).map((list) => new Set(list.map(keyOf)));
  const common = (lists[0] ?? []).filter((one) => others.every((keys) => keys.has(keyOf(one))));
  const isCommon = new Set(common.map(keyOf));
  const rest = lists.map((list) => list.filter((one) => !isCommon.has(keyOf(one))).sort(byName));
  return { common: common.sort(byName), rest };
}

/** A path parameter comes before a query parameter of the same name. */
const byName = by(({ name, in: place }: Parameter) => `${name} ${place}`);
