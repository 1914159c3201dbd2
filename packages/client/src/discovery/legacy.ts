/** The older discovery documents: lists of groups, and a list of resources for each version of each. */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api';
import { apiVersionOf, groupsMax, isDnsName, isKindName, objectsIn, textsIn } from './discovered-kind.ts';
import type { DiscoveredKind, DiscoveredVersion } from './discovered-kind.ts';

export interface ServedVersion {
  readonly group: string;
  readonly version: string;
}

/** Reads `/api` (APIVersions) or `/apis` (APIGroupList), the preferred version of each group first. */
export function servedVersions(document: JsonObject): ServedVersion[] {
  if (document['kind'] === 'APIVersions') {
    return textsIn(document['versions']).flatMap((version) => (isDnsName(version) ? [{ group: '', version }] : []));
  }
  return objectsIn(document['groups'], groupsMax).flatMap(({ name, versions, preferredVersion }) => {
    if (!isDnsName(name)) return [];
    const preferred = isObject(preferredVersion) ? preferredVersion['version'] : undefined;
    return objectsIn(versions, 100)
      .map(({ version }) => version)
      .filter(isDnsName)
      .sort((one, other) => Number(other === preferred) - Number(one === preferred))
      .map((version) => ({ group: name, version }));
  });
}

export const versionPath = ({ group, version }: ServedVersion): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

/** Reads an APIResourceList. */
export function versionOfList({ group, version }: ServedVersion, document: JsonObject): DiscoveredVersion {
  const resources = objectsIn(document['resources']);
  const subresources = new Map<string, string[]>();
  for (const { name } of resources) {
    if (typeof name !== 'string') continue;
    const slash = name.indexOf('/');
    if (slash === -1) continue;
    const of = subresources.get(name.slice(0, slash)) ?? [];
    subresources.set(name.slice(0, slash), of);
    of.push(name.slice(slash + 1));
  }
  const kinds = resources.flatMap((resource): DiscoveredKind[] => {
    const { name: plural, kind, singularName } = resource;
    if (!isDnsName(plural) || !isKindName(kind)) return [];
    return [
      {
        apiVersion: apiVersionOf(group, version),
        group,
        version,
        kind,
        plural,
        isNamespaced: resource['namespaced'] === true,
        singular: isDnsName(singularName) ? singularName : kind.toLowerCase(),
        shortNames: textsIn(resource['shortNames']),
        categories: textsIn(resource['categories']),
        verbs: textsIn(resource['verbs']),
        subresources: subresources.get(plural) ?? [],
      },
    ];
  });
  return { group, version, kinds, isUnavailable: false };
}
