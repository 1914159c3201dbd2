/** The four kinds, as far as commands need them: the operator's own definitions have the schemas. */

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

const definition = (kind: string, plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.controlplane.kplane.dev` },
  spec: {
    group: 'controlplane.kplane.dev',
    scope: 'Cluster',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
      },
    ],
  },
});

export const definitions = [
  definition('ControlPlane', 'controlplanes'),
  definition('ControlPlaneClass', 'controlplaneclasses'),
  definition('ControlPlaneEndpoint', 'controlplaneendpoints'),
  definition('ControlPlaneRegistration', 'controlplaneregistrations'),
];
