/** The type of a literal's value. */

import * as t from '../types.ts';
import type { Type } from '../types.ts';
import { Double, Duration, Timestamp, Uint } from '../values/values.ts';
import type { CelValue } from '../values/values.ts';

export function constantType(value: CelValue): Type {
  switch (typeof value) {
    case 'string':
      return t.stringType;
    case 'number':
    case 'bigint':
      return t.intType;
    case 'boolean':
      return t.boolType;
  }
  if (value === null) return t.nullType;
  if (value instanceof Uint8Array) return t.bytesType;
  if (value instanceof Double) return t.doubleType;
  if (value instanceof Uint) return t.uintType;
  if (value instanceof Timestamp) return t.timestampType;
  return value instanceof Duration ? t.durationType : t.dynType;
}
