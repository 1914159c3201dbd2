/**
 * Resolves the addons of a class to manifests: built-in ones, or those in ConfigMaps of the management plane. A ConfigMap overrides a
 * built-in addon: the platform team can define its own `starter`.
 */

import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { labels } from '../api/index.ts';
import { systemNamespace } from '../kubeconfig/auth.ts';
import { builtinAddon } from './builtin.ts';
import type { AddonSettings } from './builtin.ts';

/** Namespace of their ConfigMaps. */
export const addonNamespace = systemNamespace;

/** A text of manifests, and its origin for messages. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

export interface Bundle {
  readonly addon: string;
  /** Empty: the addon does not exist, or has a problem. */
  readonly sources: readonly Source[];
  /** Why a built-in addon cannot be applied. */
  readonly problem?: string;
}

export async function bundlesOf(client: Client, addons: readonly string[], settings: AddonSettings): Promise<Bundle[]> {
  if (addons.length === 0) return [];
  const { items } = await client.list(ConfigMap, { namespace: addonNamespace });
  return [...new Set(addons)].sort().map((addon) => {
    const kept = items
      .filter(({ metadata }) => metadata.labels?.[labels.addon] === addon && metadata.deletionTimestamp === undefined)
      .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
      .flatMap(sourcesOf);
    if (kept.length > 0) return { addon, sources: kept };
    const built = builtinAddon(addon, settings);
    if (!built) return { addon, sources: [] };
    if ('problem' in built) return { addon, sources: [], problem: built.problem };
    return { addon, sources: [{ name: `built-in addon "${addon}"`, text: built.text }] };
  });
}

const sourcesOf = ({ metadata, data = {} }: ConfigMap): Source[] =>
  Object.keys(data)
    .sort()
    .map((key) => ({ name: `ConfigMap "${metadata.namespace}/${metadata.name}", key "${key}"`, text: data[key]! }));
