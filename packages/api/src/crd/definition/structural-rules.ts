/** Checks whether a schema is structural: every field has one type, and alternatives (`anyOf`, …) only restrict the fields outside them. */

import { RegexError, Regex } from '@hangar/cel';
import { child, fieldErrorText, forbidden, index, invalid, key, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { additionalOf, entriesOf, isSet, itemsOf, propertyOf } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';
import { deepEqual } from '../structural/canonical.ts';
import { completenessErrors } from './completeness.ts';

type Level = 'root' | 'item' | 'field';

/** Sorted by their texts, as Kubernetes shows them. */
export function structuralErrors(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  nodeErrors(schema, 'root', path, errors);
  completenessErrors(schema, path, errors);
  const texts = new Map(errors.map((error) => [error, fieldErrorText(error)]));
  return errors.sort((a, b) => (texts.get(a)! < texts.get(b)! ? -1 : 1));
}

const emptyType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function nodeErrors(schema: JsonSchema, level: Level, path: string, errors: FieldError[]): void {
  const type = schema.type ?? '';
  const items = itemsOf(schema);
  if (type === 'array' && items === undefined) errors.push(required(child(path, 'items'), 'must be specified'));
  if (items !== undefined) nodeErrors(items, 'item', child(path, 'items'), errors);
  for (const [name, part] of entriesOf(schema.properties)) {
    nodeErrors(part, 'field', key(child(path, 'properties'), name), errors);
  }
  const hasAdditional = isSet(schema.additionalProperties);
  if (hasAdditional && level === 'root') {
    errors.push(forbidden(child(path, 'additionalProperties'), 'must not be used at the root'));
  }
  const additional = additionalOf(schema);
  if (additional !== undefined) nodeErrors(additional, 'field', child(path, 'additionalProperties'), errors);
  const isIntOrString = schema['x-kubernetes-int-or-string'] ?? false;
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] ?? false;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] ?? false;
  const notWithInt = 'must be false if x-kubernetes-int-or-string is true';
  if (isIntOrString && keepsUnknown) {
    errors.push(invalid(child(path, 'x-kubernetes-preserve-unknown-fields'), true, notWithInt));
  }
  if (isIntOrString && isEmbedded)
    errors.push(invalid(child(path, 'x-kubernetes-embedded-resource'), true, notWithInt));
  validationErrors(schema, isIntOrStringPair(schema.anyOf), isIntOrStringPair(schema.allOf?.[0]?.anyOf), path, errors);
  const typePath = child(path, 'type');
  if (isEmbedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(typePath, detail) : invalid(typePath, type, detail));
  } else if (type === '' && !isIntOrString && !keepsUnknown) {
    errors.push(required(typePath, emptyType[level]));
  }
  if (isEmbedded && hasAdditional) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(forbidden(child(path, 'additionalProperties'), detail));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalid(typePath, type, 'must be object at the root'));
  }
  metaErrors(schema, level, isEmbedded, path, errors);
  if (isEmbedded && !keepsUnknown && entriesOf(schema.properties).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(child(path, 'properties'), detail));
  }
}

/** Checks the schema of the fields that every resource has. */
function metaErrors(schema: JsonSchema, level: Level, isEmbedded: boolean, path: string, errors: FieldError[]): void {
  const isResource = level === 'root' || isEmbedded;
  const at = (name: string): string => key(child(path, 'properties'), name);
  const expectType = (name: string, expected: string): void => {
    const part = propertyOf(schema, name);
    if (part === undefined || !isResource || part.type === expected) return;
    errors.push(invalid(child(at(name), 'type'), part.type ?? '', `must be ${expected}`));
  };
  expectType('kind', 'string');
  expectType('apiVersion', 'string');
  expectType('metadata', 'object');
  const metadata = propertyOf(schema, 'metadata');
  if (metadata !== undefined && level === 'root' && !isPlainMetadata(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(at('metadata'), detail));
  }
}

function isPlainMetadata(schema: JsonSchema): boolean {
  const named = Object.keys(schema.properties ?? {});
  if (named.some((name) => name !== 'name' && name !== 'generateName')) return false;
  const { type: _type, default: _default, properties: _properties, ...rest } = schema;
  return Object.values(rest).every((value) => !isSet(value) || value === false || value === '');
}

const isIntOrStringPair = (anyOf: readonly JsonSchema[] | undefined): boolean =>
  deepEqual(anyOf, [{ type: 'integer' }, { type: 'string' }]);

/** Checks the restricting part of a schema. The only exception for types in alternatives is int-or-string. */
function validationErrors(
  schema: JsonSchema,
  skipsAnyOf: boolean,
  skipsFirstAllOf: boolean,
  path: string,
  errors: FieldError[],
): void {
  if (!skipsAnyOf) {
    for (const [i, part] of (schema.anyOf ?? []).entries())
      nestedErrors(part, false, index(child(path, 'anyOf'), i), errors);
  }
  for (const [i, part] of (schema.allOf ?? []).entries()) {
    nestedErrors(part, skipsFirstAllOf && i === 0, index(child(path, 'allOf'), i), errors);
  }
  for (const [i, part] of (schema.oneOf ?? []).entries())
    nestedErrors(part, false, index(child(path, 'oneOf'), i), errors);
  if (isSet(schema.not)) nestedErrors(schema.not, false, child(path, 'not'), errors);
  if (schema.pattern) {
    const problem = patternProblem(schema.pattern);
    if (problem !== undefined) {
      const detail = `must be a valid regular expression, but isn't: ${problem}`;
      errors.push(invalid(child(path, 'pattern'), schema.pattern, detail));
    }
  }
}

function patternProblem(pattern: string): string | undefined {
  try {
    void new Regex(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof RegexError) return error.message;
    throw error;
  }
}

/** Fields that alternatives may not have, and the required value. */
const forbiddenInside: readonly (readonly [keyof JsonSchema, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function nestedErrors(schema: JsonSchema, skipsAnyOf: boolean, path: string, errors: FieldError[]): void {
  validationErrors(schema, skipsAnyOf, false, path, errors);
  const items = itemsOf(schema);
  if (items !== undefined) nestedErrors(items, false, child(path, 'items'), errors);
  for (const [name, part] of entriesOf(schema.properties)) {
    nestedErrors(part, false, key(child(path, 'properties'), name), errors);
  }
  for (const [name, detail] of forbiddenInside) {
    const value = schema[name];
    const isSaid = isSet(value) && value !== '' && value !== false && !(Array.isArray(value) && value.length === 0);
    if (isSaid) errors.push(forbidden(child(path, name), detail));
  }
  if (propertyOf(schema, 'metadata') !== undefined) {
    errors.push(forbidden(key(child(path, 'properties'), 'metadata'), 'must not be specified in a nested context'));
  }
}
