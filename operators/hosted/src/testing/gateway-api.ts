/** The kinds of the Gateway API as far as these tests need them. */

import type { Client, KindNames } from '@hangar/client';
import type { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { installCrd } from '@hangar/testkit';
import { Gateway, gatewayGroup, tlsRouteKind } from '../gateway/kinds.ts';

const definitionOf = ({ kind, plural, apiVersion }: KindNames): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${plural}.${gatewayGroup}`,
    // Kubernetes protects the groups that end with k8s.io.
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
  },
  spec: {
    group: gatewayGroup,
    scope: 'Namespaced',
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: apiVersion.split('/')[1]!,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

export async function installGatewayApi(client: Client): Promise<void> {
  await installCrd(client, definitionOf(Gateway));
  await installCrd(client, definitionOf(tlsRouteKind('v1')));
}
