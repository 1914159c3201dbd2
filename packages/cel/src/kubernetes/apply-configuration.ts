/**
 * `Object{spec: Object.spec{…}}`: the apply configurations of mutating policies. There is a message type for every path, named after it;
 * its fields are unknown, but a nested object must be named after its path.
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

/** Every name is a field, of an unknown type. */
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

/** Returns the object as JSON; throws `CelError` if a nested object is named after another path. */
export function applyConfigurationJson(value: CelValue): unknown {
  const problems = value instanceof StructValue ? misnamed(value, value.typeName) : [];
  if (problems.length > 0) throw new CelError('Evaluation', `type mismatch: ${problems.join('\n')}`);
  return toJson(value);
}

function misnamed(value: CelValue, path: string): string[] {
  if (value instanceof CelList) return value.toArray().flatMap((element) => misnamed(element, path));
  if (!(value instanceof CelMap)) return [];
  if (!(value instanceof StructValue)) return value.keys().flatMap((key) => misnamed(value.get(key), path));
  const own =
    value.typeName === path
      ? []
      : [
          `unexpected type name "${value.typeName}", expected "${path}", which matches field name path from root Object type`,
        ];
  return [...own, ...value.keys().flatMap((key) => misnamed(value.get(key), `${path}.${key}`))];
}
