/** ResourceQuota: counted resources, scopes, messages of denials, and usage. */

import type { Step } from '../../../testing/both-servers.ts';
import { container, get, inNamespace, merge, namespace, pod, post } from './steps.ts';

const space = (name: string): string => `quota-${name}`;

/** Writes the status, because no controller runs here. */
const quota = (
  name: string,
  spec: { hard: Record<string, string>; [name: string]: unknown },
  used?: object,
): Step[] => [
  namespace(space(name)),
  post(inNamespace(space(name), 'serviceaccounts'), { metadata: { name: 'default' } }),
  post(inNamespace(space(name), 'resourcequotas'), { metadata: { name: 'q' }, spec }),
  merge(inNamespace(space(name), 'resourcequotas/q/status'), {
    status: {
      hard: spec.hard,
      used: used ?? Object.fromEntries(Object.keys(spec.hard).map((one) => [one, '0'])),
    },
  }),
];

export const quotaSetup: readonly Step[] = [
  ...quota('objects', {
    hard: { configmaps: '1', 'count/secrets': '1', 'count/deployments.apps': '1', 'count/widgets.example.com': '1' },
  }),
  ...quota('pods', {
    hard: {
      pods: '2',
      'requests.cpu': '1',
      'limits.memory': '1Gi',
      'requests.example.com/gpu': '2',
      'count/pods': '10',
    },
  }),
  ...quota('unknown', { hard: { configmaps: '1' } }, {}),
  ...quota('services', { hard: { services: '4', 'services.nodeports': '2', 'services.loadbalancers': '1' } }),
  ...quota('claims', {
    hard: {
      persistentvolumeclaims: '3',
      'requests.storage': '5Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '2Gi',
    },
  }),
  ...quota('best-effort', { hard: { pods: '1' }, scopes: ['BestEffort'] }),
  ...quota('terminating', { hard: { pods: '1' }, scopes: ['Terminating'] }),
  ...quota('important', {
    hard: { pods: '1' },
    scopeSelector: {
      matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
    },
  }),
  ...quota('affinity', { hard: { pods: '0' }, scopes: ['CrossNamespacePodAffinity'] }),
];

const create = (
  name: string,
  resource: string,
  body: object,
  rest: Omit<Step, 'method' | 'path' | 'body'> = {},
): Step => post(inNamespace(space(name), resource), body, rest);
const used = (name: string): Step => get(inNamespace(space(name), 'resourcequotas/q'));
const object = (name: string): object => ({ metadata: { name } });

const sized = (name: string, requests: object, limits: object): object =>
  pod(name, { containers: [container('c', { resources: { requests, limits } })] });
const service = (name: string, type: string, ports: number, rest: object = {}): object => ({
  metadata: { name },
  spec: {
    type,
    ports: Array.from({ length: ports }, (_, at) => ({ name: `p${at}`, port: 80 + at })),
    ...rest,
  },
});
const random = { codeOnly: true };
const claim = (name: string, storage: string, storageClassName: string): object => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } },
});

export const quotas: readonly Step[] = [
  create('objects', 'configmaps?dryRun=All', object('a')),
  used('objects'),
  create('objects', 'configmaps', object('a')),
  create('objects', 'configmaps', object('b')),
  create('objects', 'configmaps?dryRun=All', object('b')),
  create('objects', 'secrets', object('a')),
  create('objects', 'secrets', object('b')),
  create('objects', 'events', { metadata: { name: 'e' }, involvedObject: { namespace: space('objects') } }),
  used('objects'),
  create('unknown', 'configmaps', object('a')),
  create('pods', 'pods', pod('unsaid')),
  create('pods', 'pods', sized('large', { cpu: '2' }, { memory: '1Gi' })),
  create(
    'pods',
    'pods',
    sized('a', { cpu: '500m', 'example.com/gpu': '1' }, { memory: '512Mi', 'example.com/gpu': '1' }),
  ),
  create('pods', 'pods', sized('too-large', { cpu: '600m' }, { memory: '1Gi' })),
  create(
    'pods',
    'pods',
    sized('gpus', { cpu: '1m', 'example.com/gpu': '2' }, { memory: '1Mi', 'example.com/gpu': '2' }),
  ),
  used('pods'),
  create('pods', 'pods', sized('b', { cpu: '0.5' }, { memory: '512Mi' })),
  create('pods', 'pods', sized('c', { cpu: '1m' }, { memory: '1Mi' })),
  used('pods'),
  merge(inNamespace(space('pods'), 'pods/a/resize'), {
    spec: { containers: [container('c', { resources: { requests: { cpu: '600m' } } })] },
  }),
  create('services', 'services', service('a', 'ClusterIP', 1), random),
  create('services', 'services', service('b', 'NodePort', 3), random),
  create('services', 'services', service('c', 'NodePort', 2), random),
  merge(inNamespace(space('services'), 'services/a'), { spec: { type: 'NodePort' } }),
  create('services', 'services', service('d', 'LoadBalancer', 1, { allocateLoadBalancerNodePorts: false }), random),
  create('services', 'services', service('e', 'LoadBalancer', 1, { allocateLoadBalancerNodePorts: false })),
  used('services'),
  create('claims', 'persistentvolumeclaims', claim('a', '1Gi', 'gold')),
  create('claims', 'persistentvolumeclaims', claim('b', '1.5Gi', 'gold')),
  create('claims', 'persistentvolumeclaims', claim('c', '3Gi', 'tin')),
  create('claims', 'persistentvolumeclaims', claim('d', '2Gi', 'tin')),
  create('claims', 'persistentvolumeclaims', claim('e', '100Mi', 'tin')),
  create('claims', 'persistentvolumeclaims', claim('f', '1', 'tin')),
  used('claims'),
  create('best-effort', 'pods', pod('a')),
  create('best-effort', 'pods', sized('b', { cpu: '1' }, {})),
  create('best-effort', 'pods', pod('c')),
  used('best-effort'),
  create('terminating', 'pods', pod('a', { activeDeadlineSeconds: 5 })),
  create('terminating', 'pods', pod('b')),
  create('terminating', 'pods', pod('c', { activeDeadlineSeconds: 5 })),
  merge(inNamespace(space('terminating'), 'pods/b'), { spec: { activeDeadlineSeconds: 7 } }),
  used('terminating'),
  create('important', 'pods', pod('a', { priorityClassName: 'system-node-critical' })),
  create('important', 'pods', pod('b')),
  create('important', 'pods', pod('c', { priorityClassName: 'system-node-critical' })),
  used('important'),
  create('affinity', 'pods', pod('a')),
  create(
    'affinity',
    'pods',
    pod('b', {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: {}, topologyKey: 'zone', namespaces: ['other'] },
          ],
        },
      },
    }),
  ),
];
