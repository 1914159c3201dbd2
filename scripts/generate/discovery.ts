/** Reads the published discovery documents: groups and versions in order of preference, resources, subresources. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sources } from './modules.ts';

export interface DiscoveredGroup {
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly DiscoveredVersion[];
}

export interface DiscoveredVersion {
  readonly name: string;
  /** Subresources as `pods/status`, each after its resource. */
  readonly resources: readonly DiscoveredResource[];
}

export interface DiscoveredResource {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

export async function readDiscovery(from: Sources): Promise<DiscoveredGroup[]> {
  const read = async <T>(file: string): Promise<T> =>
    JSON.parse(await readFile(join(from.kubernetes, 'api/discovery', file), 'utf8')) as T;
  const version = async (prefix: string, name: string): Promise<DiscoveredVersion> => {
    const { resources } = await read<{ resources: DiscoveredResource[] }>(`${prefix}__${name}.json`);
    return { name, resources };
  };
  const { groups } = await read<{ groups: { name: string; versions: { version: string }[] }[] }>('apis.json');
  const named = groups.map(async ({ name, versions }) => ({
    name,
    versions: await Promise.all(versions.map((one) => version(`apis__${name}`, one.version))),
  }));
  return [{ name: '', versions: [await version('api', 'v1')] }, ...(await Promise.all(named))];
}

/** A storage version may no longer be served. */
const unservedVersions = ['v1', 'v1beta1'];

/** Returns the version whose hash discovery shows: the server publishes the storage version only this way. */
export function storageVersionOf(resource: DiscoveredResource, groups: readonly DiscoveredGroup[]): string | undefined {
  if (resource.storageVersionHash === undefined) return undefined;
  for (const { name: group, versions } of groups) {
    for (const version of new Set([...versions.map(({ name }) => name), ...unservedVersions])) {
      const hash = createHash('sha256').update(`${group}/${version}/${resource.kind}`).digest().subarray(0, 8);
      if (hash.toString('base64') === resource.storageVersionHash)
        return group === '' ? version : `${group}/${version}`;
    }
  }
  throw new Error(`no group-version explains the storage hash of ${resource.name}`);
}
