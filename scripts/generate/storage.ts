/** Where objects lie under the storage prefix: the few exceptions that the server lists, else the resource's name. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sources } from './modules.ts';

/** Servers that are delegates of kube-apiserver put the group into the key, as it is done for custom resources. */
const keyedByGroup = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

export async function readStoragePrefixes(from: Sources): Promise<(group: string, resource: string) => string> {
  const text = await readFile(join(from.kubernetes, 'pkg/kubeapiserver/default_storage_factory_builder.go'), 'utf8');
  const special = new Map<string, string>();
  for (const [, group, resource, prefix] of text.matchAll(/\{Group: "(.*)", Resource: "(\w+)"\}:\s+"([\w/]+)",/g)) {
    special.set(`${group}/${resource}`, prefix!);
  }
  if (special.size === 0) throw new Error('the list of special storage prefixes was not found');
  return (group, resource) =>
    special.get(`${group}/${resource}`) ?? (keyedByGroup.has(group) ? `${group}/${resource}` : resource);
}
