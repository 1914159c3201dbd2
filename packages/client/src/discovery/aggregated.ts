/** APIGroupDiscoveryList: all resources below `/api` or `/apis` in one document. */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api';
import { apiVersionOf, groupsMax, isDnsName, isKindName, objectsIn, textsIn } from './discovered-kind.ts';
import type { DiscoveredKind, DiscoveredVersion } from './discovered-kind.ts';

export const aggregatedAccept = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');

/** Returns undefined for another document, from a server without aggregated discovery. */
export function versionsOfAggregated(document: JsonObject): DiscoveredVersion[] | undefined {
  if (document['kind'] !== 'APIGroupDiscoveryList') return undefined;
  const all: DiscoveredVersion[] = [];
  for (const item of objectsIn(document['items'], groupsMax)) {
    const group = (isObject(item['metadata']) ? item['metadata']['name'] : undefined) ?? '';
    if (group !== '' && !isDnsName(group)) continue;
    for (const { version, resources, freshness } of objectsIn(item['versions'], 100)) {
      if (!isDnsName(version)) continue;
      const kinds = objectsIn(resources).flatMap((resource) => kindOf(group, version, resource) ?? []);
      all.push({ group, version, kinds, isUnavailable: freshness === 'Stale' });
    }
  }
  return all;
}

function kindOf(group: string, version: string, resource: JsonObject): DiscoveredKind | undefined {
  const { resource: plural, responseKind, scope, singularResource } = resource;
  const kind = isObject(responseKind) ? responseKind['kind'] : undefined;
  // Without a kind it has only subresources.
  if (!isDnsName(plural) || !isKindName(kind)) return undefined;
  return {
    apiVersion: apiVersionOf(group, version),
    group,
    version,
    kind,
    plural,
    isNamespaced: scope === 'Namespaced',
    singular: isDnsName(singularResource) ? singularResource : kind.toLowerCase(),
    shortNames: textsIn(resource['shortNames']),
    categories: textsIn(resource['categories']),
    verbs: textsIn(resource['verbs']),
    subresources: objectsIn(resource['subresources']).map(({ subresource }) => String(subresource)),
  };
}
