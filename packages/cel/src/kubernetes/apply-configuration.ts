/**
 * `Object{spec: Object.spec{…}}`: what mutating policies want an object to be like. There is a message type for every
 * path, named after it; which fields it has nobody knows, but a nested object must be named after where it stands.
 */

import { CelError } from '../errors.ts';
import type { Library } from '../environment.ts';
import { dynType } from '../types.ts';
import type { ObjectField } from '../types.ts';
import { CelList } from '../values/list.ts';
import { CelMap } from '../values/map.ts';
import { StructValue } from '../values/struct.ts';
import { toJson } from '../values/to-json.ts';
import type { CelValue } from '../values/values.ts';

/** Every name is a field, of a type nobody knows. */
class AnyFields extends Map<string, ObjectField> {
  override get(): ObjectField {
    return { type: dynType };
  }
}

const fields = new AnyFields();

export const applyConfigurations: Library = {
  name: 'kubernetes apply configurations',
  structType: (name) => (/^Object(?:\.|$)/.test(name) ? { kind: 'object', name, fields } : undefined),
};

/** The object as JSON; throws `CelError` when a nested object is named after another place. */
export function applyConfigurationJson(value: CelValue): unknown {
  verify(value, 'Object');
  return toJson(value);
}

function verify(value: CelValue, path: string): void {
  if (value instanceof StructValue && value.typeName !== path) {
    const message = `unexpected type name "${value.typeName}", expected "${path}", which matches field name path from root Object type`;
    throw new CelError('Evaluation', message);
  }
  if (value instanceof CelList) for (const element of value) verify(element, path);
  else if (value instanceof StructValue) for (const key of value.keys()) verify(value.get(key), `${path}.${key}`);
  else if (value instanceof CelMap) for (const key of value.keys()) verify(value.get(key), path);
}
