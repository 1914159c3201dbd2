/** The rest of the core group, events and RBAC. */

import { all, labels, selector, specs } from './build.ts';

const later = '2030-01-01T00:00:00Z';

export const core = [
  all(
    'v1',
    'ConfigMap',
    {},
    { data: { b: '1', a: '2' }, binaryData: { c: 'AA==' }, immutable: false, metadata: { generation: 4 } },
  ),
  all(
    'v1',
    'Secret',
    {},
    { stringData: { a: 'text', b: 'x' }, data: { b: 'AA==', c: '' } },
    { type: 'kubernetes.io/basic-auth', stringData: { username: 'a', password: 'ü' } },
  ),
  all(
    'v1',
    'Namespace',
    {},
    { metadata: { labels }, spec: { finalizers: ['example.com/x'] }, status: { phase: 'Terminating' } },
  ),
  all(
    'v1',
    'Node',
    {},
    {
      spec: { podCIDR: '10.1.0.0/24', unschedulable: true, taints: [{ key: 'a', effect: 'NoSchedule' }] },
      status: { capacity: { cpu: '1.0001', memory: '1Gi' }, phase: 'Running' },
    },
    { spec: { podCIDRs: ['10.1.0.0/24', 'fd00::/64'] } },
  ),
  specs(
    'v1',
    'LimitRange',
    { limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '100m', memory: '1Mi' } }] },
    {
      limits: [
        { type: 'Pod', max: { cpu: '2' } },
        { type: 'Container', default: { cpu: '1' } },
      ],
    },
  ),
  specs(
    'v1',
    'ResourceQuota',
    {},
    { hard: { cpu: '1.00001', pods: '3' }, scopes: ['NotTerminating'] },
    {
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] },
    },
  ),
  all('v1', 'ServiceAccount', {}, { secrets: [{ name: 'a', kind: 'Secret' }], imagePullSecrets: [{ name: 'x' }] }),
  all(
    'v1',
    'Event',
    { involvedObject: { namespace: 'default', kind: 'Pod' } },
    {
      involvedObject: { namespace: 'default', name: 'x' },
      reason: 'r',
      message: 'm',
      source: { component: 'c' },
      count: 2,
      type: 'Normal',
      firstTimestamp: later,
    },
  ),
  all('events.k8s.io/v1', 'Event', {
    eventTime: '2030-01-01T00:00:00.000001Z',
    reportingController: 'example.com/c',
    reportingInstance: 'i',
    action: 'a',
    reason: 'r',
    type: 'Normal',
    regarding: { namespace: 'default', kind: 'Pod' },
    note: 'n',
  }),
];

const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const subjects = [
  { kind: 'User', name: 'u' },
  { kind: 'Group', name: 'g', apiGroup: 'rbac.authorization.k8s.io' },
  { kind: 'ServiceAccount', name: 's', namespace: 'default' },
];
export const rbac = [
  all('rbac.authorization.k8s.io/v1', 'Role', {}, { rules }),
  all(
    'rbac.authorization.k8s.io/v1',
    'ClusterRole',
    {},
    { rules, metadata: { name: 'system:a b' } },
    {
      aggregationRule: { clusterRoleSelectors: [selector] },
    },
  ),
  all(
    'rbac.authorization.k8s.io/v1',
    'RoleBinding',
    { roleRef: { kind: 'Role', name: 'r' } },
    { roleRef: { kind: 'ClusterRole', name: 'r' }, subjects },
  ),
  all(
    'rbac.authorization.k8s.io/v1',
    'ClusterRoleBinding',
    { roleRef: { kind: 'ClusterRole', name: 'r' } },
    {
      roleRef: { kind: 'ClusterRole', name: 'r' },
      subjects,
    },
  ),
];
