/** Two nodes with pods that reference objects, and the requests of the first node. */

const pods = '/api/v1/namespaces/default/pods';

const pod = (
  name: string,
  nodeName: string,
  spec: object,
  metadata: object = {},
): { path: string; object: object } => ({
  path: pods,
  object: {
    metadata: { name, ...metadata },
    spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], ...spec },
  },
});

const container = (rest: object): object => ({ name: 'c', image: 'i', ...rest });

export const nodeObjects: readonly { readonly path: string; readonly object: object }[] = [
  pod('p1', 'n1', {
    serviceAccountName: 'account1',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ ...container({ envFrom: [{ secretRef: { name: 'init-env' } }] }), name: 'init' }],
    containers: [
      container({
        envFrom: [{ configMapRef: { name: 'env-from' } }],
        env: [
          { name: 'A', valueFrom: { secretKeyRef: { name: 'env-secret', key: 'k' } } },
          { name: 'B', valueFrom: { configMapKeyRef: { name: 'env-map', key: 'k' } } },
        ],
      }),
    ],
    volumes: [
      { name: 'a', secret: { secretName: 'volume-secret' } },
      { name: 'b', configMap: { name: 'volume-map' } },
      {
        name: 'c',
        projected: { sources: [{ secret: { name: 'projected-secret' } }, { configMap: { name: 'projected-map' } }] },
      },
      { name: 'd', persistentVolumeClaim: { claimName: 'claim1' } },
      {
        name: 'e',
        ephemeral: {
          volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } } },
        },
      },
      { name: 'f', csi: { driver: 'd', nodePublishSecretRef: { name: 'csi-secret' } } },
    ],
    resourceClaims: [
      { name: 'r', resourceClaimName: 'direct-claim' },
      { name: 's', resourceClaimTemplateName: 't' },
    ],
  }),
  pod('p2', 'n2', { serviceAccountName: 'account2', volumes: [{ name: 'a', secret: { secretName: 'other' } }] }),
  pod(
    'mirror',
    'n1',
    { volumes: [{ name: 'a', secret: { secretName: 'mirrored' } }] },
    { annotations: { 'kubernetes.io/config.mirror': 'x' } },
  ),
  pod('waiting', '', { volumes: [{ name: 'a', secret: { secretName: 'unscheduled' } }] }),
  {
    path: '/api/v1/persistentvolumes',
    object: {
      metadata: { name: 'pv1' },
      spec: {
        capacity: { storage: '1' },
        accessModes: ['ReadWriteOnce'],
        claimRef: { namespace: 'default', name: 'claim1' },
        csi: {
          driver: 'd',
          volumeHandle: 'h',
          nodeStageSecretRef: { namespace: 'kube-public', name: 'stage' },
          controllerPublishSecretRef: { namespace: 'kube-public', name: 'controller' },
        },
      },
    },
  },
  {
    path: '/api/v1/persistentvolumes',
    object: {
      metadata: { name: 'pv2' },
      spec: {
        capacity: { storage: '1' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/x' },
        claimRef: { namespace: 'default', name: 'claim2' },
      },
    },
  },
  ...['n1', 'n2'].map((nodeName) => ({
    path: '/apis/storage.k8s.io/v1/volumeattachments',
    object: {
      metadata: { name: `va-${nodeName}` },
      spec: { attacher: 'a', nodeName, source: { persistentVolumeName: 'pv1' } },
    },
  })),
  ...['n1', 'n2'].map((nodeName) => ({
    path: '/apis/resource.k8s.io/v1/resourceslices',
    object: {
      metadata: { name: `slice-${nodeName}` },
      spec: { nodeName, driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } },
    },
  })),
];

export interface NodeQuestion {
  readonly user: string;
  readonly groups: readonly string[];
  readonly resourceAttributes?: object;
  readonly nonResourceAttributes?: object;
}

const ask = (verb: string, what: string, name = '', rest: object = {}): NodeQuestion => {
  const [path = '', subresource] = what.split(':');
  const slash = path.lastIndexOf('/');
  return {
    user: 'system:node:n1',
    groups: ['system:nodes', 'system:authenticated'],
    resourceAttributes: {
      verb,
      group: slash < 0 ? '' : path.slice(0, slash),
      resource: path.slice(slash + 1),
      ...(subresource === undefined ? {} : { subresource }),
      name,
      ...rest,
    },
  };
};

const inDefault = { namespace: 'default' };
const ofNode = (node: string, operator = 'In'): object => ({
  fieldSelector: { requirements: [{ key: 'spec.nodeName', operator, values: [node] }] },
});

export const nodeQuestions: readonly NodeQuestion[] = [
  ...[
    'pull',
    'init-env',
    'env-secret',
    'volume-secret',
    'projected-secret',
    'csi-secret',
    'other',
    'mirrored',
    'unscheduled',
    'absent',
    '',
  ].map((name) => ask('get', 'secrets', name, inDefault)),
  ...['list', 'watch', 'create', 'update', 'delete', 'deletecollection'].map((verb) =>
    ask(verb, 'secrets', 'pull', inDefault),
  ),
  ask('get', 'secrets', 'pull'),
  ask('get', 'secrets:status', 'pull', inDefault),
  ask('get', 'secrets', 'pull', { namespace: 'kube-public' }),
  ask('get', 'secrets', 'stage', { namespace: 'kube-public' }),
  ask('get', 'secrets', 'controller', { namespace: 'kube-public' }),
  ...['env-from', 'env-map', 'volume-map', 'projected-map', 'other'].map((name) =>
    ask('get', 'configmaps', name, inDefault),
  ),
  ...['claim1', 'p1-e', 'claim2'].map((name) => ask('get', 'persistentvolumeclaims', name, inDefault)),
  ask('list', 'persistentvolumeclaims', 'claim1', inDefault),
  ask('patch', 'persistentvolumeclaims:status', 'claim1', inDefault),
  ask('get', 'persistentvolumeclaims:status', 'claim1', inDefault),
  ask('update', 'persistentvolumeclaims:status', 'claim2', inDefault),
  ask('get', 'persistentvolumes', 'pv1'),
  ask('get', 'persistentvolumes', 'pv2'),
  ask('get', 'persistentvolumes', 'absent'),
  ask('list', 'persistentvolumes'),
  ask('get', 'resource.k8s.io/resourceclaims', 'direct-claim', inDefault),
  ask('get', 'resource.k8s.io/resourceclaims', 's', inDefault),
  ask('get', 'storage.k8s.io/volumeattachments', 'va-n1'),
  ask('get', 'storage.k8s.io/volumeattachments', 'va-n2'),
  ask('create', 'serviceaccounts:token', 'account1', inDefault),
  ask('create', 'serviceaccounts:token', 'account2', inDefault),
  ask('create', 'serviceaccounts:token', '', inDefault),
  ask('create', 'serviceaccounts', 'account1', inDefault),
  ask('get', 'serviceaccounts', 'account1', inDefault),
  ask('get', 'serviceaccounts', 'account2', inDefault),
  ...['get', 'create', 'delete', 'list'].flatMap((verb) => [
    ask(verb, 'coordination.k8s.io/leases', 'n1', { namespace: 'kube-node-lease' }),
    ask(verb, 'coordination.k8s.io/leases', 'n2', { namespace: 'kube-node-lease' }),
    ask(verb, 'coordination.k8s.io/leases', 'n1', inDefault),
    ask(verb, 'storage.k8s.io/csinodes', 'n1'),
    ask(verb, 'storage.k8s.io/csinodes', 'n2'),
    ask(verb, 'resource.k8s.io/resourceslices', 'slice-n1'),
    ask(verb, 'resource.k8s.io/resourceslices', 'slice-n2'),
    ask(verb, 'nodes', 'n1'),
    ask(verb, 'nodes', 'n2'),
    ask(verb, 'nodes:status', 'n1'),
    ask(verb, 'pods', 'p1', inDefault),
    ask(verb, 'pods', 'p2', inDefault),
    ask(verb, 'pods:eviction', 'p1', inDefault),
    ask(verb, 'pods:status', 'p1', inDefault),
    ask(verb, 'pods:exec', 'p1', inDefault),
  ]),
  ask('patch', 'nodes:status', 'n2'),
  ask('list', 'nodes'),
  ask('list', 'pods', '', ofNode('n1')),
  ask('list', 'pods', '', ofNode('n2')),
  ask('list', 'pods', '', ofNode('n1', 'NotIn')),
  ask('list', 'pods', '', ofNode('n1', 'Like')),
  ask('watch', 'pods', '', { fieldSelector: { rawSelector: 'spec.nodeName=n1' } }),
  ask('watch', 'pods', '', { fieldSelector: { rawSelector: 'spec.nodeName=n1,=,' } }),
  ask('list', 'pods', '', {
    labelSelector: {
      requirements: [
        { key: 'a', operator: 'Odd', values: ['b'] },
        { key: 'a', operator: 'Exists' },
      ],
    },
  }),
  ask('deletecollection', 'resource.k8s.io/resourceslices', '', ofNode('n1')),
  ask('deletecollection', 'resource.k8s.io/resourceslices'),
  ask('use', 'resource.k8s.io/resourceslices', 'slice-n1'),
  ask('create', 'certificates.k8s.io/podcertificaterequests', '', inDefault),
  ask('create', 'events', '', inDefault),
  ask('list', 'services'),
  ask('list', 'endpoints'),
  ask('create', 'authentication.k8s.io/tokenreviews'),
  { ...ask('get', 'secrets', 'pull', inDefault), user: 'system:node:' },
  { ...ask('get', 'secrets', 'pull', inDefault), groups: [] },
  { ...ask('get', 'secrets', 'pull', inDefault), user: 'n1' },
  { user: 'system:node:n1', groups: ['system:nodes'], nonResourceAttributes: { verb: 'get', path: '/healthz' } },
];
