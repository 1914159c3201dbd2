/**
 * The served resources at one moment, as discovery and OpenAPI documents describe them: built-in and custom resources in one model. Values
 * are immutable: a change of a CustomResourceDefinition makes a new `ServedVersion`, and everything derived from the others stays valid.
 */

import { apiVersionOf, builtinGroups, parseApiVersion, schemaOf } from '../builtin/schemas.ts';
import type { BuiltinResource, GroupVersion } from '../builtin/schemas.ts';
import type { StructType } from '../builtin/types.ts';
import type { JsonObject } from '../object.ts';
import { storageVersionHash } from './storage-version-hash.ts';

export interface ServedGroup {
  /** Empty for the core group. */
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly ServedVersion[];
}

export interface ServedVersion {
  readonly name: string;
  readonly resources: readonly ServedResource[];
}

export interface ServedResource {
  /** In the plural, as in paths. */
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly ServedSubresource[];
  /** Absent for resources that are not stored. */
  readonly storageVersionHash?: string;
  readonly schema: BuiltinSchema | CustomSchema;
}

export interface ServedSubresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

export interface BuiltinSchema {
  readonly type: 'builtin';
  readonly struct: StructType;
}

export interface CustomSchema {
  readonly type: 'custom';
  readonly listKind: string;
  /** `openAPIV3Schema` of the definition's version; undefined if it is absent or not structural. */
  readonly jsonSchema: JsonObject | undefined;
  /** The definition's own `preserveUnknownFields`, which only old definitions have. */
  readonly preservesUnknownFields?: boolean;
  /** JSON paths as in the definition: `.spec.size`. */
  readonly selectableFields?: readonly string[];
}

let builtin: readonly ServedGroup[] | undefined;

/** Groups that are served without any definition or flag, in the order of discovery: the core group first. */
export function builtinServedGroups(): readonly ServedGroup[] {
  builtin ??= builtinGroups().flatMap(({ name, versions }) => {
    const served = versions
      .map((version) => ({ name: version.name, resources: version.resources.filter((one) => one.isServedByDefault) }))
      .filter(({ resources }) => resources.length > 0);
    if (served.length === 0) return [];
    return [
      { name, versions: served.map((one) => ({ name: one.name, resources: one.resources.map(servedResource) })) },
    ];
  });
  return builtin;
}

function servedResource(resource: BuiltinResource): ServedResource {
  const { name, singular, kind, namespaced, verbs, shortNames, categories, subresources, storage } = resource;
  const struct = schemaOf(apiVersionOf(resource), kind)!;
  const hash = storage && { storageVersionHash: storageVersionHash({ ...parseApiVersion(storage.apiVersion), kind }) };
  const schema = { type: 'builtin', struct } as const;
  return { name, singular, kind, namespaced, verbs, shortNames, categories, subresources, ...hash, schema };
}

/** Reports whether all resources of the group come from definitions. */
export const isCustomGroup = ({ versions }: ServedGroup): boolean =>
  versions.every(({ resources }) => resources.every(({ schema }) => schema.type === 'custom'));

export const pathOfVersion = ({ group, version }: GroupVersion): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;
