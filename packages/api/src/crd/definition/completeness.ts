/** Fields that alternatives restrict must also be declared outside them, or they would be pruned. */

import { child, index, key, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { entriesOf, isSet, itemsOf, propertyOf } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';

export function completenessErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  alternativesOf(schema, path, (part, at) => restricted(part, schema, path, at, errors));
}

function alternativesOf(schema: JsonSchema, path: string, visit: (part: JsonSchema, at: string) => void): void {
  if (isSet(schema.not)) visit(schema.not, child(path, 'not'));
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [i, part] of (schema[name] ?? []).entries()) visit(part, index(child(path, name), i));
  }
}

/** `declared` is the schema outside, at `path`; `part` restricts it, at `at`. */
function restricted(
  part: JsonSchema,
  declared: JsonSchema | undefined,
  path: string,
  at: string,
  errors: FieldError[],
): void {
  if (declared === undefined) {
    errors.push(required(path, `because it is defined in ${at}`));
    return;
  }
  alternativesOf(part, at, (inner, innerAt) => restricted(inner, declared, path, innerAt, errors));
  const items = itemsOf(part);
  if (items !== undefined) restricted(items, itemsOf(declared), child(path, 'items'), child(at, 'items'), errors);
  for (const [name, inner] of entriesOf(part.properties)) {
    const [outerPath, innerPath] = [path, at].map((one) => key(child(one, 'properties'), name)) as [string, string];
    restricted(inner, propertyOf(declared, name), outerPath, innerPath, errors);
  }
}
