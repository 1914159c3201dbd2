/**
 * From the names in a class to manifests: what is built in, or what the platform team keeps in ConfigMaps of the management plane.
 * A ConfigMap wins over what is built in: the team decides what its own `starter` is.
 */

import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { labels } from '../api/index.ts';
import { systemNamespace } from '../kubeconfig/auth.ts';
import { starter } from './starter.ts';

/** Where their ConfigMaps are. */
export const addonNamespace = systemNamespace;
const builtin: Readonly<Record<string, string>> = { starter };
export const builtinAddons: readonly string[] = Object.keys(builtin);

/** A text of manifests, and where it is from, for people. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

export interface Bundle {
  readonly addon: string;
  /** None: nobody has made this addon. */
  readonly sources: readonly Source[];
}

export async function bundlesOf(client: Client, addons: readonly string[]): Promise<Bundle[]> {
  if (addons.length === 0) return [];
  const { items } = await client.list(ConfigMap, { namespace: addonNamespace });
  return [...new Set(addons)].sort().map((addon) => {
    const kept = items
      .filter(({ metadata }) => metadata.labels?.[labels.addon] === addon && metadata.deletionTimestamp === undefined)
      .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
      .flatMap(sourcesOf);
    const given = Object.hasOwn(builtin, addon) ? [{ name: `built-in addon "${addon}"`, text: builtin[addon]! }] : [];
    return { addon, sources: kept.length > 0 ? kept : given };
  });
}

const sourcesOf = ({ metadata, data = {} }: ConfigMap): Source[] =>
  Object.keys(data)
    .sort()
    .map((key) => ({ name: `ConfigMap "${metadata.namespace}/${metadata.name}", key "${key}"`, text: data[key]! }));
