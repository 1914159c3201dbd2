/** `x-kubernetes-list-type` and `x-kubernetes-list-map-keys`: the requirements of sets and maps. */

import { child, forbidden, invalid, key, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { isSet, itemsOf, propertyOf } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';
import { goItems } from './go-form.ts';

const listTypeField = 'x-kubernetes-list-type';
const keysField = 'x-kubernetes-list-map-keys';

export function listErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const type = schema.type ?? '';
  const listType = schema[listTypeField] ?? undefined;
  const keys = schema[keysField] ?? [];
  if (listType !== undefined && type !== 'array') {
    const detail = 'must be array if x-kubernetes-list-type is specified';
    errors.push(type === '' ? required(child(path, 'type'), detail) : invalid(child(path, 'type'), type, detail));
  } else if (listType === 'set') {
    setItemErrors(schema, path, errors);
  }
  if (listType !== undefined && listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
    errors.push(notSupported(child(path, listTypeField), listType, ['atomic', 'set', 'map']));
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const at = child(path, listTypeField);
    errors.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail));
  }
  if (listType === 'map') mapErrors(schema, keys, path, errors);
  if (listType === 'map' || listType === 'set') itemErrors(schema, listType, keys, path, errors);
}

/** The items of a set are compared as a whole. */
function setItemErrors(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const items = itemsOf(schema);
  if (items === undefined) return;
  const itemListType = items[listTypeField] ?? null;
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const at = (field: string): string => child(child(path, 'items'), field);
  if (items.type === 'array' && itemListType !== null && itemListType !== 'atomic') {
    errors.push(invalid(at(listTypeField), itemListType, detail));
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    // Kubernetes shows the items' list type here, not their map type.
    errors.push(invalid(at('x-kubernetes-map-type'), itemListType, detail));
  }
}

function mapErrors(schema: JsonSchema, keys: readonly string[], path: string, errors: FieldError[]): void {
  const items = itemsOf(schema);
  const itemsPath = child(path, 'items');
  if (keys.length === 0) {
    errors.push(required(child(path, keysField), 'must not be empty if x-kubernetes-list-type is map'));
  }
  if (!isSet(schema.items)) {
    errors.push(required(itemsPath, 'must have a schema if x-kubernetes-list-type is map'));
  } else if (items === undefined) {
    const detail = 'must only have a single schema if x-kubernetes-list-type is map';
    errors.push(invalid(itemsPath, goItems(schema.items), detail));
  }
  if (items === undefined) return;
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(child(itemsPath, 'type'), items.type ?? '', detail));
    return;
  }
  const seen = new Set<string>();
  for (const name of keys) {
    const part = propertyOf(items, name);
    if (part === undefined) {
      errors.push(invalid(child(path, keysField), keys, 'entries must all be names of item properties'));
    } else if (part.type === 'array' || part.type === 'object') {
      const at = child(key(child(itemsPath, 'properties'), name), 'type');
      errors.push(invalid(at, 'object', "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    if (seen.has(name)) errors.push(invalid(child(path, keysField), keys, 'must not contain duplicate entries'));
    seen.add(name);
  }
}

/** Every item of a set or map has an identity. */
function itemErrors(
  schema: JsonSchema,
  listType: string,
  keys: readonly string[],
  path: string,
  errors: FieldError[],
): void {
  const items = itemsOf(schema);
  if (items === undefined) return;
  const itemsPath = child(path, 'items');
  if (items.nullable) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbidden(child(itemsPath, 'nullable'), detail));
  }
  if (listType !== 'map') return;
  for (const name of keys) {
    const part = propertyOf(items, name);
    if (part === undefined) continue;
    const at = key(child(itemsPath, 'properties'), name);
    const why = 'this property is in x-kubernetes-list-map-keys, so it';
    if (!items.required?.includes(name) && !isSet(part.default)) {
      errors.push(required(child(at, 'default'), `${why} must have a default or be a required property`));
    }
    if (part.nullable) errors.push(forbidden(child(at, 'nullable'), `${why} cannot be nullable`));
  }
}
