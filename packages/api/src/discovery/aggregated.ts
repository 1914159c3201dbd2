/**
 * Aggregated discovery: everything of `/api` or `/apis` in one document, which current clients request with `Accept:
 * application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`.
 */

import type { GroupVersion } from '../builtin/schemas.ts';
import type { JsonObject } from '../object.ts';
import { isCustomGroup } from './model.ts';
import type { ServedGroup, ServedResource, ServedSubresource, ServedVersion } from './model.ts';
import { by } from './order.ts';

/** Content-Type of the answer: clients refuse any other. */
export const aggregatedMediaType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** `/api` has the core group only, `/apis` all others: built-in ones in their own order, then custom ones by name. */
export function aggregatedDiscovery(path: '/api' | '/apis', groups: readonly ServedGroup[]): JsonObject {
  const shown = groups.filter(({ name }) => (name === '') === (path === '/api'));
  const custom = shown.filter(isCustomGroup).sort(by(({ name }) => name));
  const ordered = [...shown.filter((group) => !isCustomGroup(group)), ...custom];
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: ordered.map(groupItem),
  };
}

function groupItem({ name, versions }: ServedGroup): JsonObject {
  return { metadata: name === '' ? {} : { name }, versions: versions.map((version) => versionItem(name, version)) };
}

function versionItem(group: string, { name, resources }: ServedVersion): JsonObject {
  const where = { group, version: name };
  const custom = resources.filter(({ schema }) => schema.type === 'custom').sort(by((resource) => resource.name));
  const ordered = [...resources.filter(({ schema }) => schema.type === 'builtin'), ...custom];
  return {
    version: name,
    resources: ordered.map((resource) => resourceItem(where, resource)),
    freshness: 'Current',
  };
}

function resourceItem(where: GroupVersion, resource: ServedResource): JsonObject {
  const { name, singular, kind, namespaced, verbs, shortNames, categories, schema } = resource;
  // kube-apiserver shows group and version of a kind only if they differ from the resource's, but always for custom resources.
  const own = schema.type === 'custom' ? where : { group: '', version: '' };
  const subresources = resource.subresources.map((one) => subresourceItem(where, own, one));
  return {
    resource: name,
    responseKind: { ...own, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

function subresourceItem(where: GroupVersion, own: GroupVersion, subresource: ServedSubresource): JsonObject {
  const { name, group, version, kind, verbs } = subresource;
  const isOwn = group === where.group && version === where.version;
  return { subresource: name, responseKind: { ...(isOwn ? own : { group, version }), kind }, verbs };
}
