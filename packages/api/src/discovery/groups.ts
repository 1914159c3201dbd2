/** Unaggregated discovery: one document each for the versions, the groups, a group, and a group-version. */

import { apiVersionOf } from '../builtin/schemas.ts';
import type { GroupVersion } from '../builtin/schemas.ts';
import type { JsonObject } from '../object.ts';
import { isCustomGroup } from './model.ts';
import type { ServedGroup, ServedResource, ServedVersion } from './model.ts';
import { by } from './order.ts';

/** `/api`. The address (host and port) is the one for clients of any network. */
export function apiVersions(groups: readonly ServedGroup[], serverAddress: string): JsonObject {
  const core = groups.find(({ name }) => name === '');
  return {
    kind: 'APIVersions',
    versions: core?.versions.map(({ name }) => name) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `/apis`: built-in groups in their own order, then custom ones. */
export function apiGroupList(groups: readonly ServedGroup[]): JsonObject {
  const named = groups.filter(({ name }) => name !== '');
  // The aggregator orders groups of equal priority by the name of their first APIService, which begins with the version.
  const custom = named.filter(isCustomGroup).sort(by(({ name, versions }) => `${versions[0]?.name}.${name}`));
  const ordered = [...named.filter((group) => !isCustomGroup(group)), ...custom];
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: ordered.map(groupEntry) };
}

/** `/apis/{group}`. */
export function apiGroup(group: ServedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) };
}

function groupEntry({ name, versions }: ServedGroup): JsonObject {
  const entries = versions.map((version) => ({
    groupVersion: apiVersionOf({ group: name, version: version.name }),
    version: version.name,
  }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

/** `/api/v1` and `/apis/{group}/{version}`. */
export function apiResourceList(group: string, { name: version, resources }: ServedVersion): JsonObject {
  const where = { group, version };
  return {
    kind: 'APIResourceList',
    // kube-apiserver leaves it out for the core group.
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(where),
    resources: resources.flatMap((resource) => resourceEntries(where, resource)),
  };
}

function resourceEntries(where: GroupVersion, resource: ServedResource): JsonObject[] {
  const { name, singular, namespaced, kind, verbs, shortNames, categories, storageVersionHash } = resource;
  const main = {
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(storageVersionHash === undefined ? {} : { storageVersionHash }),
  };
  const subresources = resource.subresources.map((one) => ({
    name: `${name}/${one.name}`,
    singularName: '',
    namespaced,
    ...(one.group === where.group && one.version === where.version ? {} : groupAndVersion(one)),
    kind: one.kind,
    verbs: one.verbs,
  }));
  return [main, ...subresources];
}

const groupAndVersion = ({ group, version }: GroupVersion): JsonObject =>
  group === '' ? { version } : { group, version };
