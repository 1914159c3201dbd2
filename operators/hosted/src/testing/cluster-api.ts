/** The kind Cluster of Cluster API as far as these tests need it. */

import { defineKind } from '@hangar/client';
import type { Client } from '@hangar/client';
import type { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { installCrd } from '@hangar/testkit';
import type { ClusterObject } from '../render/index.ts';

export const Cluster = defineKind<ClusterObject & { spec?: { controlPlaneRef?: object } }>({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  plural: 'clusters',
  isNamespaced: true,
});

const definition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'clusters.cluster.x-k8s.io' },
  spec: {
    group: 'cluster.x-k8s.io',
    scope: 'Namespaced',
    names: { kind: 'Cluster', listKind: 'ClusterList', plural: 'clusters', singular: 'cluster' },
    versions: [
      {
        name: 'v1beta2',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

export const installClusterApi = (client: Client): Promise<unknown> => installCrd(client, definition);
