/** An infrastructure provider without a controller: kinds whose objects a test marks as provisioned. */

import { defineKind } from '@hangar/client';
import type { ApiObject, Client, Kind, ObjectKey } from '@hangar/client';
import type { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';

const group = 'infrastructure.cluster.x-k8s.io';
const version = 'v1beta1';

const kindOf = (kind: string): Kind<ApiObject> =>
  defineKind({ apiVersion: `${group}/${version}`, kind, plural: `${kind.toLowerCase()}s`, isNamespaced: true });

export const AWSCluster = kindOf('AWSCluster');
export const AWSMachine = kindOf('AWSMachine');
/** Of a ClusterClass. */
export const AWSClusterTemplate = kindOf('AWSClusterTemplate');

const definitionOf = ({ kind, plural }: Kind<ApiObject>): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${plural}.${group}`,
    // The contracts that the version follows.
    labels: { 'cluster.x-k8s.io/v1beta1': version, 'cluster.x-k8s.io/v1beta2': version },
  },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

export const infrastructureDefinitions = [AWSCluster, AWSMachine, AWSClusterTemplate].map(definitionOf);

/** Marks a cluster as provisioned, for both contracts: `ready` is that of v1beta1. */
export async function provision(client: Client, key: ObjectKey): Promise<void> {
  const body = { status: { ready: true, initialization: { provisioned: true } } };
  await client.status.patch(AWSCluster, key, { type: 'merge', body });
}
