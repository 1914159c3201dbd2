/** Optional values: `optional.of(x)`, `x.?field`, `orValue`. */

import { fail, noSuchOverload } from '../../errors.ts';
import { method, overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import { optionalMacros } from '../../syntax/macros-extended.ts';
import * as t from '../../types.ts';
import { CelList, ValueList } from '../../values/list.ts';
import { CelMap } from '../../values/map.ts';
import { Double, Duration, Optional, Timestamp, Uint } from '../../values/values.ts';
import type { CelValue } from '../../values/values.ts';

const V = t.param('V');
const K = t.param('K');
const optional = t.optionalOf(V);
const unreached = (): never => noSuchOverload();

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof Double) return value.value === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.nanos === -62135596800n * 1_000_000_000n;
  return value instanceof Optional && value.value === undefined;
}

export const optionals: Library = {
  name: 'optional',
  macros: optionalMacros,
  types: [t.opaque('optional_type', t.dynType)],
  functions: {
    'optional.of': [overload('optional_of', [V], optional, (value: CelValue) => new Optional(value))],
    'optional.ofNonZeroValue': [
      overload('optional_ofNonZeroValue', [V], optional, (value: CelValue) =>
        isZero(value) ? Optional.none : new Optional(value),
      ),
    ],
    'optional.none': [overload('optional_none', [], optional, () => Optional.none)],
    'optional.unwrap': [
      overload('optional_unwrap', [t.listOf(optional)], t.listOf(V), (list: CelList) => unwrap(list)),
    ],
    unwrapOpt: [method('optional_unwrapOpt', [t.listOf(optional)], t.listOf(V), (list: CelList) => unwrap(list))],
    value: [
      method('optional_value', [optional], V, ({ value }: Optional) =>
        value === undefined ? fail('optional.none() dereference') : value,
      ),
    ],
    hasValue: [method('optional_hasValue', [optional], t.boolType, ({ value }: Optional) => value !== undefined)],
    or: [method('optional_or_optional', [optional, optional], optional, unreached)],
    orValue: [method('optional_orValue_value', [optional, V], V, unreached)],
    '_?._': [overload('select_optional_field', [t.dynType, t.stringType], t.optionalOf(t.dynType), unreached)],
    '_[?_]': [
      overload('list_optindex_optional_int', [t.listOf(V), t.intType], optional, unreached),
      overload('optional_list_optindex_optional_int', [t.optionalOf(t.listOf(V)), t.intType], optional, unreached),
      overload('map_optindex_optional_value', [t.mapOf(K, V), K], optional, unreached),
      overload('optional_map_optindex_optional_value', [t.optionalOf(t.mapOf(K, V)), K], optional, unreached),
    ],
    '_[_]': [
      overload('optional_list_index_int', [t.optionalOf(t.listOf(V)), t.intType], optional, unreached),
      overload('optional_map_index_value', [t.optionalOf(t.mapOf(K, V)), K], optional, unreached),
    ],
  },
};

function unwrap(list: CelList): CelList {
  const values = list
    .toArray()
    .flatMap((entry) => (entry instanceof Optional && entry.value !== undefined ? [entry.value] : []));
  return new ValueList(values);
}
