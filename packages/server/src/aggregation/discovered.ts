/**
 * Sanitizes the discovery of another server, in the form of aggregated discovery. It becomes part of the document of all servers, so only
 * known fields with the types that clients expect are copied: one server must not be able to break it for the others.
 */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

/** Limit of resources per group-version, far above what real servers have. */
export const resourcesMax = 5_000;
const subresourcesMax = 100;
const namesMax = 100;

/** Returns an entry of aggregated discovery. */
export function checkedResource(entry: JsonObject): JsonObject {
  const shortNames = textsOf(entry['shortNames']);
  const categories = textsOf(entry['categories']);
  const subresources = objectsOf(entry['subresources'])
    .slice(0, subresourcesMax)
    .map((one) => ({
      subresource: textOf(one['subresource']),
      responseKind: kindOf(isObject(one['responseKind']) ? one['responseKind'] : {}),
      verbs: textsOf(one['verbs']),
    }));
  return {
    resource: textOf(entry['resource']),
    responseKind: kindOf(isObject(entry['responseKind']) ? entry['responseKind'] : {}),
    scope: entry['scope'] === 'Namespaced' ? 'Namespaced' : 'Cluster',
    singularResource: textOf(entry['singularResource']),
    verbs: textsOf(entry['verbs']),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

/** Converts an APIResourceList, for servers without aggregated discovery. */
export function discoveredResources({ resources }: JsonObject): JsonObject[] {
  const all = objectsOf(resources).slice(0, resourcesMax);
  const parts = Map.groupBy(all, ({ name }) => textOf(name).split('/', 1)[0]!);
  return [...parts].flatMap(([resource, group]) => {
    const main = group.find(({ name }) => name === resource);
    if (!main) return [];
    const subresources = group
      .filter((one) => one !== main)
      .map((one) => ({
        subresource: textOf(one['name']).slice(resource.length + 1),
        responseKind: one,
        verbs: one['verbs'],
      }));
    const { singularName: singularResource, namespaced } = main;
    const scope = namespaced === true ? 'Namespaced' : 'Cluster';
    return [checkedResource({ ...main, resource, responseKind: main, singularResource, scope, subresources })];
  });
}

const kindOf = ({ group, version, kind }: JsonObject): JsonObject => ({
  group: textOf(group),
  version: textOf(version),
  kind: textOf(kind),
});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string').slice(0, namesMax) : [];

export const objectsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
