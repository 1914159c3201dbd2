/**
 * The built-in resources and kinds of Kubernetes, by kind, by resource, or as a list. All data comes from the generated table; entries are
 * expanded on first use.
 */

import { structType } from './types.ts';
import type { StructType } from './types.ts';
import { table } from './table.ts';
import type { ResourceRow, SubresourceRow } from './table.ts';

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

export interface Column {
  readonly name: string;
  /** `string`, `integer`, `number`, `boolean`, `date`. */
  readonly type: string;
  readonly format: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

export interface Subresource extends GroupVersionKind {
  readonly name: string;
  readonly verbs: readonly string[];
}

export interface BuiltinResource extends GroupVersion {
  /** In the plural, as in paths. */
  readonly name: string;
  readonly kind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Undefined for resources that are not stored, such as reviews. */
  readonly storage: { readonly apiVersion: string; readonly prefix: string } | undefined;
  readonly columns: readonly Column[];
  readonly subresources: readonly Subresource[];
  /** Served without a flag, as stable versions are. */
  readonly isServedByDefault: boolean;
}

export interface BuiltinGroup {
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly { readonly name: string; readonly resources: readonly BuiltinResource[] }[];
}

/** The Kubernetes release that the table describes, such as `1.36.4`. */
export const release: string = table.release;

export const apiVersionOf = ({ group, version }: GroupVersion): string =>
  group === '' ? version : `${group}/${version}`;

export function parseApiVersion(apiVersion: string): GroupVersion {
  const at = apiVersion.indexOf('/');
  return at < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, at), version: apiVersion.slice(at + 1) };
}

/** Group and version → the packages that have its kinds. */
let packagesByApiVersion: Map<string, string> | undefined;

function packageOf(apiVersion: string): string | undefined {
  if (!packagesByApiVersion) {
    packagesByApiVersion = new Map();
    for (const [id, { group }] of Object.entries(table.packages)) {
      if (group === undefined) continue;
      const version = id.slice(id.indexOf('/') + 1);
      if (id !== 'meta/v1') packagesByApiVersion.set(apiVersionOf({ group, version }), id);
    }
    packagesByApiVersion.set('meta.k8s.io/v1', 'meta/v1');
  }
  return packagesByApiVersion.get(apiVersion);
}

/** Kinds of meta v1 that are registered in every group-version: options of requests, and events of watches. */
const everywhere = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
]);
/** Kinds of meta v1 with the apiVersion `v1`. */
const unversioned = new Set(['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status']);

/** Returns the schema of a kind; undefined if it is not built in. */
export function schemaOfKind({ group, version, kind }: GroupVersionKind): StructType | undefined {
  return schemaOf(apiVersionOf({ group, version }), kind);
}

/** Only existing kinds are kept: names sent by clients must not fill the memory. */
const schemasByApiVersion = new Map<string, Map<string, StructType>>();

/** Like `schemaOfKind`, by apiVersion and kind as in objects. */
export function schemaOf(apiVersion: string, kind: string): StructType | undefined {
  let schema = schemasByApiVersion.get(apiVersion)?.get(kind);
  if (!schema) {
    schema = findSchema({ ...parseApiVersion(apiVersion), kind });
    if (!schema) return undefined;
    const kinds = schemasByApiVersion.get(apiVersion) ?? new Map<string, StructType>();
    schemasByApiVersion.set(apiVersion, kinds.set(kind, schema));
  }
  return schema;
}

function findSchema({ group, version, kind }: GroupVersionKind): StructType | undefined {
  const home = packageOf(apiVersionOf({ group, version }));
  if (home !== undefined && hasKind(home, kind)) return structType(`${home}.${kind}`);
  const isMeta = everywhere.has(kind) ? home !== undefined : group === '' && version === 'v1' && unversioned.has(kind);
  return isMeta ? structType(`meta/v1.${kind}`) : undefined;
}

function hasKind(home: string, kind: string): boolean {
  const { types } = table.packages[home]!;
  if (!Object.hasOwn(types, kind)) return false;
  return types[kind]!.startsWith('@kind') || kind === 'WatchEvent' || types[kind]!.startsWith('=meta/v1.');
}

/** Yields every kind of `schemaOfKind` in its own group-version, in order. */
export function* builtinKinds(): Generator<GroupVersionKind> {
  for (const [id, { group, types }] of Object.entries(table.packages)) {
    if (group === undefined) continue;
    const version = id.slice(id.indexOf('/') + 1);
    for (const kind of Object.keys(types)) {
      if (hasKind(id, kind)) yield { group: id === 'meta/v1' ? 'meta.k8s.io' : group, version, kind };
    }
  }
}

let groups: readonly BuiltinGroup[] | undefined;

/** In the order of discovery: the core group first. */
export function builtinGroups(): readonly BuiltinGroup[] {
  groups ??= table.groups.map((group) => ({
    name: group.name,
    versions: group.versions.map(({ name, resources }) => ({
      name,
      resources: resources.map((row) => resourceOf(group.name, name, row)),
    })),
  }));
  return groups;
}

/** Returns the resource by group, version and plural name; undefined if it is not built in. */
export function builtinResource(where: GroupVersion & { readonly resource: string }): BuiltinResource | undefined {
  return builtinGroups()
    .find(({ name }) => name === where.group)
    ?.versions.find(({ name }) => name === where.version)
    ?.resources.find(({ name }) => name === where.resource);
}

function resourceOf(group: string, version: string, row: ResourceRow): BuiltinResource {
  return {
    group,
    version,
    name: row.name,
    kind: row.kind,
    singular: row.singular ?? row.kind.toLowerCase(),
    namespaced: row.namespaced ?? false,
    verbs: verbsOf(row),
    shortNames: row.shortNames?.split(',') ?? [],
    categories: row.categories?.split(',') ?? [],
    storage: row.stored === undefined ? undefined : { apiVersion: row.stored, prefix: row.prefix! },
    columns: row.columns?.split(';').map(columnOf) ?? [],
    subresources: row.subresources?.map((one) => subresourceOf(group, version, one)) ?? [],
    isServedByDefault: /^v\d+$/.test(version),
  };
}

const everyVerb = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const verbsOf = ({ verbs }: SubresourceRow): readonly string[] => verbs?.split(',') ?? everyVerb;

function subresourceOf(group: string, version: string, row: SubresourceRow): Subresource {
  const [kind = '', otherVersion = version, otherGroup = group] = row.kind.split('/').reverse();
  return { name: row.name, group: otherGroup, version: otherVersion, kind, verbs: verbsOf(row) };
}

function columnOf(text: string): Column {
  const [name = '', type = '', format = '', priority = '0'] = text.split(':');
  return { name, type: type || 'string', format, priority: Number(priority) };
}
