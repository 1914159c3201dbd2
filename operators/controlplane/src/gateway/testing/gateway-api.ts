/** A minimal Gateway API: the kind TLSRoute with the defaults of the real one, and a simulated controller of its Gateways. */

import { find } from '@hangar/client';
import type { Client, ObjectKey } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { installCrd } from '@hangar/testkit';
import { ControlPlaneClass } from '../../api/index.ts';
import type { ClassGateway } from '../../api/index.ts';
import { tlsRoute } from '../tls-route.ts';
import type { ParentReference } from '../tls-route.ts';

const text = { type: 'string' };
const number = { type: 'integer' };
const reference = (properties: object) => ({ type: 'array', items: { type: 'object', properties } });
const kindOf = (group: string, kind: string) => ({
  group: { ...text, default: group },
  kind: { ...text, default: kind },
});

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        parentRefs: reference({ ...kindOf('gateway.networking.k8s.io', 'Gateway'), name: text, namespace: text }),
        hostnames: { type: 'array', items: text },
        rules: reference({
          name: text,
          backendRefs: reference({
            ...kindOf('', 'Service'),
            name: text,
            port: number,
            weight: { ...number, default: 1 },
          }),
        }),
      },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

export const definition = (versions: readonly string[]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'tlsroutes.gateway.networking.k8s.io',
    // Groups of k8s.io require an approval.
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
  },
  spec: {
    group: 'gateway.networking.k8s.io',
    scope: 'Namespaced',
    names: { kind: 'TLSRoute', plural: 'tlsroutes', singular: 'tlsroute', listKind: 'TLSRouteList' },
    versions: versions.map((name, at) => ({
      name,
      served: true,
      storage: at === 0,
      subresources: { status: {} },
      schema: { openAPIV3Schema: schema },
    })),
  },
});

/** Resolves when it is served. */
export const installGatewayApi = (client: Client, versions: readonly string[] = ['v1alpha3']): Promise<unknown> =>
  installCrd(client, JSON.stringify(definition(versions)));

export const TlsRoute = tlsRoute('v1alpha3');

export const edge = {
  parentRef: { name: 'front', namespace: 'edge' },
  apiServerRef: { name: 'hangar', namespace: 'server' },
  hostnameTemplate: '{name}.planes.example',
} satisfies ClassGateway;

/** Creates a class `edge`, and the namespaces that it names. */
export async function makeClass(client: Client, gateway: ClassGateway = edge): Promise<void> {
  for (const name of ['edge', 'server', 'other']) {
    if (!(await find(client, Namespace, { name }))) await client.create(Namespace, { metadata: { name } });
  }
  await client.create(ControlPlaneClass, { metadata: { name: 'edge' }, spec: { gateway } });
}

export interface Answer {
  readonly type?: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly parentRef?: ParentReference;
  readonly observedGeneration?: number;
}

/** Writes a status as the controller of the Gateway would. */
export async function say(client: Client, key: ObjectKey, ...answers: readonly Answer[]): Promise<void> {
  const { metadata } = await client.get(TlsRoute, key);
  const parents = answers.map(({ type = 'Accepted', parentRef = edge.parentRef, status, reason, ...rest }) => ({
    parentRef,
    controllerName: 'example.com/test',
    conditions: [
      ...(type === 'Accepted' ? [] : [conditionOf('Accepted', 'True', 'Accepted', metadata.generation)]),
      conditionOf(type, status, reason, rest.observedGeneration ?? metadata.generation),
    ],
  }));
  await client.status.patch(TlsRoute, key, { type: 'merge', body: { status: { parents } } });
}

const conditionOf = (type: string, status: string, reason: string, observedGeneration: number | undefined) => ({
  type,
  status,
  reason,
  message: `because ${reason}`,
  observedGeneration,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
