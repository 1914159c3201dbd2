/** Keeps the ConfigMap `project-settings` in the namespace `default` of every project: the name of the project, and the given settings. */

import { find } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { kindOptions, named } from '@hangar/runtime';
import type { CacheOptions, ControllerOptions } from '@hangar/runtime';

const key = { namespace: 'default', name: 'project-settings' };
const fieldManager = 'project-settings';

/** Two objects of each project are cached. */
export const cache: CacheOptions = {
  byKind: [
    kindOptions(Namespace, { fieldSelector: `metadata.name=${key.namespace}` }),
    kindOptions(ConfigMap, { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` }),
  ],
};

/** A deleted or changed ConfigMap is restored. */
export const settingsController = (
  settings: Readonly<Record<string, string>>,
): ControllerOptions<Namespace, [], [ConfigMap]> => ({
  name: 'project-settings',
  for: { kind: Namespace, where: named(key.namespace) },
  watches: [{ kind: ConfigMap, where: named(key.name), map: () => [{ name: key.namespace }] }],
  async reconcile({ cluster }, { client }) {
    const data = { ...settings, project: cluster };
    const found = await find(client, ConfigMap, key);
    const isCurrent = Object.entries(data).every(([name, value]) => found?.data?.[name] === value);
    if (!isCurrent) await client.apply(ConfigMap, { metadata: key, data }, { fieldManager, force: true });
  },
  concurrency: 16,
  // A slow project has at most a quarter of the workers.
  maxPerCluster: 4,
  reconcileTimeoutMs: 30_000,
});
