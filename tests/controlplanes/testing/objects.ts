/** Objects for control planes in these tests. */

import type { Client } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { isConditionTrue } from '@hangar/runtime';
import { until } from '../../../operators/controlplane/src/testing/until.ts';

/** Creates a minimal definition of Cluster API's kind. Resolves when it is served. */
export async function defineClusters(client: Client): Promise<void> {
  const name = 'clusters.cluster.x-k8s.io';
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await client.create(CustomResourceDefinition, {
    metadata: { name, annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
    spec: {
      group: 'cluster.x-k8s.io',
      scope: 'Namespaced',
      names: { kind: 'Cluster', listKind: 'ClusterList', plural: 'clusters', singular: 'cluster' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
  await until(client, CustomResourceDefinition, name, (one) => isConditionTrue(one?.status?.conditions, 'Established'));
}

const atOnce = 50;

/** Creates this many ConfigMaps, labelled `filled`, in `default`. */
export async function fill(client: Client, count: number): Promise<void> {
  for (let begun = 0; begun < count; begun += atOnce) {
    const names = Array.from({ length: Math.min(atOnce, count - begun) }, (_, at) => `filled-${begun + at}`);
    await Promise.all(
      names.map((name) =>
        client.create(ConfigMap, { metadata: { namespace: 'default', name, labels: { filled: '' } } }),
      ),
    );
  }
}
