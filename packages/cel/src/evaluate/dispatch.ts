/** Selects the overload for values whose types are known only at runtime. */

import { noSuchOverload } from '../errors.ts';
import type { Overload } from '../environment.ts';
import type { Type } from '../types.ts';
import { CelList } from '../values/list.ts';
import { CelMap } from '../values/map.ts';
import { Double, Duration, Optional, Timestamp, TypeValue, Uint } from '../values/values.ts';
import type { CelValue } from '../values/values.ts';

export function accepts(type: Type, value: CelValue): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'error':
    case 'param':
      return true;
    case 'null':
      return value === null;
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'number' || typeof value === 'bigint';
    case 'string':
      return typeof value === 'string';
    case 'uint':
      return value instanceof Uint;
    case 'double':
      return value instanceof Double;
    case 'bytes':
      return value instanceof Uint8Array;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'list':
      if (!(value instanceof CelList)) return false;
      // The first element decides between overloads like join(list(string)) and none.
      return value.size === 0 || elementFits(type.element, value.at(0));
    case 'map':
      return value instanceof CelMap;
    case 'type':
      return value instanceof TypeValue;
    case 'wrapper':
      return value === null || accepts(type.of, value);
    case 'object':
      return value instanceof CelMap && value.typeName === type.name;
    case 'opaque':
      if (type.name === 'optional_type') return value instanceof Optional;
      return (
        value !== null && typeof value === 'object' && !(value instanceof Uint8Array) && value.typeName === type.name
      );
  }
}

function elementFits(type: Type, value: CelValue): boolean {
  return accepts(type, value) || type.kind === 'list';
}

export function dispatch(overloads: readonly Overload[], args: readonly CelValue[]): Overload {
  for (const overload of overloads) {
    const { params } = overload;
    let fits = params.length === args.length;
    for (let index = 0; fits && index < params.length; index++) fits = accepts(params[index]!, args[index]!);
    if (fits) return overload;
  }
  return noSuchOverload();
}
