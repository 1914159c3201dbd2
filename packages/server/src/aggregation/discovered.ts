/**
 * What another server says that it serves, in the form of aggregated discovery. It goes into the document of all servers, so
 * nothing but what discovery knows is taken over, each part with the type that clients expect: one server must not be able
 * to spoil it for the others.
 */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

/** More than these nobody serves. */
export const resourcesMax = 5_000;
const subresourcesMax = 100;
const namesMax = 100;

/** An entry of aggregated discovery. */
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

/** Of a server that only knows discovery as it was first made: an APIResourceList. */
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
