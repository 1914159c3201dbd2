/**
 * Resources inside resources (`x-kubernetes-embedded-resource`): their metadata is decoded like any metadata (unknown fields are removed,
 * values take their canonical form) and validated by the same rules.
 */

import { schemaOf } from '../../builtin/schemas.ts';
import type { StructType } from '../../builtin/types.ts';
import { ApiError } from '../../errors.ts';
import { checkFields } from '../../fields/check.ts';
import { normalise } from '../../fields/normalise.ts';
import type { JsonObject, ObjectMeta } from '../../object.ts';
import { isObject } from '../../object.ts';
import { child, index, invalid, key, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { dns1035LabelReasons } from '../../validation/formats.ts';
import { errorsMax } from '../bounded-errors.ts';
import { sorted } from './canonical.ts';
import { metadataErrors } from './embedded-metadata.ts';
import type { SchemaNode } from './node.ts';

const objectMetaStruct = (): StructType => schemaOf('v1', 'ConfigMap')!.properties.get('metadata')!.type.struct;

export interface ReadMetadata {
  /** Absent if the metadata cannot be read. */
  readonly metadata?: JsonObject;
  readonly error?: string;
  /** Dotted names below the metadata. */
  readonly unknown: readonly string[];
}

/** Returns metadata as Kubernetes would write it after reading it. */
export function readMetadata(given: unknown): ReadMetadata {
  const struct = objectMetaStruct();
  const { error, problems } = checkFields(struct, given);
  if (error !== undefined) return { error, unknown: [] };
  const unknown = problems.map((problem) => /^unknown field "(.*)"$/s.exec(problem)?.[1] ?? problem);
  try {
    const metadata = normalise(struct, isObject(given) ? given : {});
    if (metadata['creationTimestamp'] === null) delete metadata['creationTimestamp'];
    return { metadata, unknown };
  } catch (thrown) {
    if (thrown instanceof ApiError) return { error: thrown.message, unknown: [] };
    throw thrown;
  }
}

export interface Coercion {
  readonly error: FieldError | undefined;
  /** Paths of fields that were removed, sorted. */
  readonly unknown: string[];
}

/** Rewrites the metadata of embedded resources in place; stops at the first that cannot be read. */
export function coerceEmbedded(value: unknown, node: SchemaNode, path = ''): Coercion {
  const unknown: string[] = [];
  const error = coerce(value, node, path, unknown);
  return { error, unknown: unknown.sort() };
}

function coerce(value: unknown, node: SchemaNode, path: string, unknown: string[]): FieldError | undefined {
  if (!node.hasEmbedded || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    if (node.items === undefined) return undefined;
    for (let i = 0; i < value.length; i++) {
      const error = coerce(value[i], node.items, index(path, i), unknown);
      if (error !== undefined) return error;
    }
    return undefined;
  }
  const object = value as JsonObject;
  for (const name of Object.keys(object)) {
    const own = node.isEmbedded ? coerceOwn(object, name, path, unknown) : undefined;
    if (own !== undefined) return own;
    const field = node.properties.get(name);
    const error = field
      ? coerce(object[name], field, child(path, name), unknown)
      : node.others && coerce(object[name], node.others, key(path, name), unknown);
    if (error !== undefined) return error;
  }
  return undefined;
}

function coerceOwn(object: JsonObject, name: string, path: string, unknown: string[]): FieldError | undefined {
  const value = object[name];
  if (name === 'kind' || name === 'apiVersion') {
    return typeof value === 'string' ? undefined : invalid(child(path, name), sorted(value), 'must be a string');
  }
  if (name !== 'metadata') return undefined;
  const read = readMetadata(value);
  if (read.metadata === undefined) return invalid(child(path, name), sorted(value), read.error ?? '');
  for (const field of read.unknown) unknown.push(`${child(path, name)}.${field}`);
  object[name] = read.metadata;
  return undefined;
}

/** Returns the errors of embedded resources, after `coerceEmbedded`. */
export function embeddedErrors(value: unknown, node: SchemaNode, path = '', errors: FieldError[] = []): FieldError[] {
  if (errors.length >= errorsMax || !node.hasEmbedded || typeof value !== 'object' || value === null) return errors;
  if (Array.isArray(value)) {
    if (node.items !== undefined) {
      for (let i = 0; i < value.length; i++) embeddedErrors(value[i], node.items, index(path, i), errors);
    }
    return errors;
  }
  const object = value as JsonObject;
  if (node.isEmbedded) resourceErrors(object, path, errors);
  for (const name of Object.keys(object)) {
    const field = node.properties.get(name);
    if (field !== undefined) embeddedErrors(object[name], field, child(path, name), errors);
    else if (node.others !== undefined) embeddedErrors(object[name], node.others, key(path, name), errors);
  }
  return errors;
}

function resourceErrors(object: JsonObject, path: string, errors: FieldError[]): void {
  typeNameErrors(object, 'apiVersion', path, errors, (apiVersion) =>
    apiVersion.split('/').length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined,
  );
  typeNameErrors(object, 'kind', path, errors, (kind) => {
    const reasons = dns1035LabelReasons(kind.toLowerCase());
    return reasons.length > 0 ? `may have mixed case, but should otherwise match: ${reasons.join(',')}` : undefined;
  });
  if (!Object.hasOwn(object, 'metadata')) return;
  const { metadata, error } = readMetadata(object['metadata']);
  const at = child(path, 'metadata');
  if (metadata === undefined) errors.push(invalid(at, sorted(object['metadata']), error ?? ''));
  else errors.push(...metadataErrors(metadata as ObjectMeta, at));
}

function typeNameErrors(
  object: JsonObject,
  name: 'apiVersion' | 'kind',
  path: string,
  errors: FieldError[],
  problem: (value: string) => string | undefined,
): void {
  const at = child(path, name);
  if (!Object.hasOwn(object, name)) {
    errors.push(required(at, ''));
    return;
  }
  const value = object[name];
  if (typeof value !== 'string') errors.push(invalid(at, sorted(value), 'must be a string'));
  else {
    const found = value === '' ? 'must not be empty' : problem(value);
    if (found !== undefined) errors.push(invalid(at, value, found));
  }
}
