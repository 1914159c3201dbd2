/** Configuration, services, roles and events. */

import type { JsonObject } from '../../../../object.ts';
import { base64, meta, namespaced, withSpec, withStatus } from './sample.ts';
import type { Sample } from './sample.ts';

const serviceOf = (change: JsonObject, annotations: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: meta('services', { annotations }),
  spec: {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    ports: [{ name: 'web', port: 80, protocol: 'TCP', targetPort: 8080 }],
    ...change,
  },
});

const secretOf = (type: string, data: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: meta('secrets', metadata),
  type,
  data,
});

export const coreSamples: readonly Sample[] = [
  {
    path: namespaced('/api/v1', 'configmaps'),
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: meta('config'),
      data: { a: 'b' },
      binaryData: { c: 'AAAA' },
    },
    more: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('config'), data: { '..': 'x' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('config'), data: { 'a/b': 'x' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('config'), data: { ['k'.repeat(254)]: 'x' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('config'), data: { a: 'x' }, binaryData: { a: '' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('config'), data: { a: 'x'.repeat(1024 * 1024 + 1) } },
    ],
  },
  {
    path: namespaced('/api/v1', 'configmaps'),
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('fixed'), immutable: true, data: { a: 'b' } },
  },
  {
    path: namespaced('/api/v1', 'secrets'),
    object: { ...secretOf('Opaque', { a: 'AAAA' }), immutable: true },
    more: [
      secretOf('kubernetes.io/tls'),
      secretOf('kubernetes.io/tls', { 'tls.crt': '' }),
      secretOf('kubernetes.io/ssh-auth', { 'ssh-privatekey': '' }),
      secretOf('kubernetes.io/basic-auth'),
      secretOf('kubernetes.io/basic-auth', { username: '' }),
      secretOf('kubernetes.io/dockercfg'),
      secretOf('kubernetes.io/dockercfg', { '.dockercfg': base64('{"a":') }),
      secretOf('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('[]') }),
      secretOf('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('{"a":1} x') }),
      secretOf('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('null') }),
      secretOf('kubernetes.io/service-account-token'),
      secretOf('Opaque', { 'a b': 'AAAA' }),
    ],
  },
  {
    path: namespaced('/api/v1', 'services'),
    object: serviceOf({
      selector: { app: 'web' },
      ports: [
        { name: 'web', port: 80, protocol: 'TCP', targetPort: 'http', appProtocol: 'example.com/web' },
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
      ],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
      trafficDistribution: 'PreferClose',
      externalIPs: ['1.2.3.4'],
      externalTrafficPolicy: 'Cluster',
    }),
    more: [
      serviceOf({ ports: [] }),
      serviceOf({ ports: [{ port: 80 }, { port: 81 }] }),
      serviceOf({ ports: [{ name: 'a', port: 80, nodePort: 30_001 }] }),
      serviceOf({ type: 'ExternalName', externalName: 'a.b.', ports: [] }),
      serviceOf({ type: 'ExternalName' }),
      serviceOf({ type: 'ExternalName', externalName: 'A_b' }),
      serviceOf({ type: 'ExternalName', externalName: 'a.b', clusterIP: '10.0.0.9', ipFamilies: ['IPv4'] }),
      serviceOf({ type: 'NodePort', clusterIP: 'None', ipFamilies: ['IPv4'] }),
      serviceOf({ type: 'LoadBalancer', loadBalancerSourceRanges: ['1.2.3.4', ' 1.0.0.0/8 '] }),
      serviceOf({ loadBalancerSourceRanges: ['1.2.3.4/8'] }),
      serviceOf({ loadBalancerClass: 'a/b' }),
      serviceOf({ type: 'LoadBalancer', loadBalancerClass: 'a/b/c' }),
      serviceOf({ allocateLoadBalancerNodePorts: true }),
      serviceOf({ externalTrafficPolicy: 'Local' }),
      serviceOf({ type: 'NodePort', externalTrafficPolicy: 'Wrong' }),
      serviceOf({ healthCheckNodePort: 30_002 }),
      serviceOf({ type: 'Wrong' }),
      serviceOf({
        externalIPs: [
          '127.0.0.1',
          '169.254.1.1',
          '224.0.0.1',
          '0.0.0.0',
          '::1',
          'fe80::1',
          'ff02::1',
          '::',
          '01.2.3.4',
        ],
      }),
      serviceOf({}, { 'service.kubernetes.io/topology-aware-hints': 'a', 'service.kubernetes.io/topology-mode': 'b' }),
      serviceOf({}, { 'service.beta.kubernetes.io/load-balancer-source-ranges': '1.2.3.4' }),
      serviceOf(
        { type: 'LoadBalancer' },
        { 'service.beta.kubernetes.io/load-balancer-source-ranges': '1.2.3.4, 1.2.3.4/33' },
      ),
      serviceOf({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }),
      serviceOf({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } } }),
      serviceOf({ selector: { 'a/b/c': '-' } }),
    ],
    statuses: [
      ['status', withStatus({ loadBalancer: { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP', hostname: 'a.b' }] } })],
    ],
    updates: [
      (stored) => withSpec(stored, { clusterIP: '10.0.0.77', clusterIPs: ['10.0.0.77'] }),
      (stored) => withSpec(stored, { clusterIP: 'None', clusterIPs: ['None'] }),
      (stored) => withSpec(stored, { clusterIP: '10.0.0.77' }),
      (stored) => withSpec(stored, { type: 'NodePort', loadBalancerClass: 'a' }),
      (stored) => withSpec(stored, { ipFamilies: ['IPv6'] }),
      (stored) => withSpec(stored, { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'Wrong' }),
    ],
  },
  {
    path: '/api/v1/namespaces',
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: meta('samples') },
    statuses: [
      ['status', withStatus({ phase: 'Active' })],
      ['finalize', (stored) => withSpec(stored, { finalizers: ['kubernetes', 'a.b/c'] })],
    ],
  },
  {
    path: namespaced('/api/v1', 'serviceaccounts'),
    object: {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: meta('account'),
      secrets: [{ name: 'x' }],
      automountServiceAccountToken: false,
    },
  },
  {
    path: namespaced('/api/v1', 'endpoints'),
    object: {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: meta('ends'),
      subsets: [
        {
          addresses: [{ ip: '10.1.1.1', hostname: 'host', nodeName: 'node' }],
          notReadyAddresses: [{ ip: '10.1.1.2' }],
          ports: [
            { name: 'a', port: 80, protocol: 'TCP', appProtocol: 'a.b/c' },
            { name: 'b', port: 81, protocol: 'UDP' },
          ],
        },
      ],
    },
  },
  {
    path: namespaced('/apis/discovery.k8s.io/v1', 'endpointslices'),
    object: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: meta('slice'),
      addressType: 'IPv4',
      ports: [
        { name: 'a', port: 80, protocol: 'TCP', appProtocol: 'a.b/c' },
        { name: 'b', port: 81, protocol: 'UDP' },
      ],
      endpoints: [
        {
          addresses: ['10.1.1.1'],
          hostname: 'host',
          nodeName: 'node',
          zone: 'z',
          hints: { forZones: [{ name: 'z' }], forNodes: [{ name: 'n' }] },
        },
      ],
    },
    more: ['IPv6', 'FQDN'].flatMap((addressType) =>
      ['fe80::1', '2001:DB8::1', '::ffff:1.2.3.4', 'a', 'a.b.', 'A.b', '10.1.1.1', '', '2001:db8::1'].map(
        (address) => ({
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: meta('slice'),
          addressType,
          endpoints: [{ addresses: [address] }],
        }),
      ),
    ),
  },
  {
    path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: meta('cluster-role'),
      rules: [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['x'] },
        { verbs: ['get'], nonResourceURLs: ['/x'] },
      ],
      aggregationRule: {
        clusterRoleSelectors: [
          { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
        ],
      },
    },
  },
  {
    path: namespaced('/apis/rbac.authorization.k8s.io/v1', 'roles'),
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: meta('role'),
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    },
    more: [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: meta('role'),
        rules: [{ verbs: ['get'], apiGroups: [''], nonResourceURLs: ['/<x>'] }],
      },
    ],
  },
  ...['RoleBinding', 'ClusterRoleBinding'].map((kind) => ({
    path:
      kind === 'RoleBinding'
        ? namespaced('/apis/rbac.authorization.k8s.io/v1', 'rolebindings')
        : '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind,
      metadata: meta('binding'),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' },
      subjects: [
        { kind: 'ServiceAccount', name: 'a', namespace: 'b' },
        { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'a' },
      ],
    },
  })),
  {
    path: namespaced('/api/v1', 'events'),
    object: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: meta('happened'),
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'x' },
      reason: 'r',
      message: 'm',
      source: { component: 'c' },
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingComponent: 'a.b/c',
      reportingInstance: 'i',
      action: 'act',
      type: 'Normal',
      count: 3,
      series: { count: 2, lastObservedTime: '2024-01-01T00:00:00.000000Z' },
    },
  },
  {
    path: namespaced('/apis/events.k8s.io/v1', 'events'),
    object: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: meta('noted'),
      regarding: { kind: 'Pod', namespace: 'default', name: 'x' },
      related: { kind: 'Pod', namespace: 'default', name: 'y' },
      reason: 'r',
      note: 'm',
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingController: 'a.b/c',
      reportingInstance: 'i',
      action: 'act',
      type: 'Normal',
      series: { count: 2, lastObservedTime: '2024-01-01T00:00:00.000000Z' },
    },
  },
  {
    path: namespaced('/apis/coordination.k8s.io/v1', 'leases'),
    object: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: meta('lease'),
      spec: {
        holderIdentity: 'x',
        leaseDurationSeconds: 3,
        leaseTransitions: 0,
        strategy: 'OldestEmulationVersion',
        preferredHolder: 'y',
      },
    },
  },
];
