/**
 * A controller of a fleet: keeps the quota that the ConfigMap `fleet-quota` describes in every namespace of every cluster. Clusters are the
 * tenants of a Hangar, on one stream for all, or those of a folder of kubeconfigs (`CLUSTERS`).
 */

import { find } from '@hangar/client';
import { ConfigMap, Namespace, ResourceQuota } from '@hangar/client/kinds/core-v1';
import { isBeingDeleted, kindOptions, named, newManager, signals } from '@hangar/runtime';
import { hangarWildcard, kubeconfigFiles, ShardCoordinator } from '@hangar/runtime/clusters';

const { NAMESPACE: namespace = 'fleet-quotas', HOST: host = '127.0.0.1', PORT: port = '8080' } = process.env;
const { CLUSTERS: folder, PEER: peer } = process.env;
const name = 'fleet-quota';
const fieldManager = 'fleet-quotas';

const manager = await newManager({
  // Of the cluster with the template, nothing else is cached.
  cache: { byKind: [kindOptions(ConfigMap, { namespace, fieldSelector: `metadata.name=${name}` })] },
  clusters: (world) => ({
    provider: folder
      ? kubeconfigFiles({ ...world, path: folder })
      : hangarWildcard({ ...world, management: world.client }),
    // Every replica takes its share; the share of a replica that exits or dies is taken over.
    coordinator: new ShardCoordinator({ ...world, namespace, group: 'fleet-quotas', peer }),
  }),
  metrics: { host, port: Number(port) },
});

manager.controller({
  name: 'fleet-quota',
  for: Namespace,
  watches: [
    // A user changed or removed the quota itself.
    { kind: ResourceQuota, where: named(name), map: ({ metadata }) => [{ name: metadata.namespace! }] },
    // The template changed: enqueues every namespace of every cluster.
    { kind: ConfigMap, cluster: 'local', map: 'all' },
  ],
  async reconcile(request, { client }) {
    const { data: hard } = (await find(manager.cluster.client, ConfigMap, { namespace, name })) ?? {};
    const target = await find(client, Namespace, request);
    if (!target || isBeingDeleted(target)) return;
    const key = { namespace: request.name, name };
    if (hard) await client.apply(ResourceQuota, { metadata: key, spec: { hard } }, { fieldManager, force: true });
    else if (await find(client, ResourceQuota, key)) await client.delete(ResourceQuota, key);
  },
  concurrency: 16,
  // A slow cluster has at most a quarter of the workers.
  maxPerCluster: 4,
  reconcileTimeoutMs: 30_000,
});

await manager.run(signals());
