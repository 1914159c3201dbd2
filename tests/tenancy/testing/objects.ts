/** Objects of many kinds, as a tenant's users make them. */

import type { Access } from './access.ts';

const core = '/api/v1';
const inDefault = `${core}/namespaces/default`;
const labels = { app: 'a' };
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'example.test/c:1', ports: [{ containerPort: 80 }] }] },
};
const group = (name: string, version = 'v1'): string => `/apis/${name}/${version}/namespaces/default`;
const cluster = (name: string, version = 'v1'): string => `/apis/${name}/${version}`;
const named = (name: string, rest: object = {}): object => ({ metadata: { name }, ...rest });

const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { size: { type: 'integer' }, color: { type: 'string', default: 'red' } },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

const objects: readonly (readonly [path: string, object: object])[] = [
  [`${core}/namespaces`, named('team')],
  [`${inDefault}/configmaps`, named('a', { data: { k: 'v', umlaut: 'ü\u2028' } })],
  [`${core}/namespaces/team/configmaps`, named('a', { binaryData: { k: 'AAEC' } })],
  [`${inDefault}/secrets`, named('s', { stringData: { password: 'guess' }, type: 'Opaque' })],
  [`${core}/namespaces/team/secrets`, named('s', { stringData: { password: 'other' } })],
  [`${inDefault}/serviceaccounts`, named('robot')],
  [`${inDefault}/services`, named('web', { spec: { selector: labels, ports: [{ port: 80 }] } })],
  [`${inDefault}/services`, named('node', { spec: { type: 'NodePort', selector: labels, ports: [{ port: 80 }] } })],
  [`${inDefault}/services`, named('none', { spec: { clusterIP: 'None', selector: labels, ports: [{ port: 80 }] } })],
  [`${inDefault}/endpoints`, named('web', { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }] })],
  [`${inDefault}/pods`, named('p', { spec: template.spec })],
  [`${inDefault}/replicationcontrollers`, named('rc', { spec: { selector: labels, template } })],
  [`${inDefault}/persistentvolumeclaims`, named('disk', { spec: claim() })],
  [`${core}/persistentvolumes`, named('volume', { spec: volume() })],
  [`${core}/nodes`, named('n1')],
  [`${inDefault}/limitranges`, named('l', { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } })],
  [`${inDefault}/resourcequotas`, named('q', { spec: { hard: { pods: '10' } } })],
  [`${inDefault}/podtemplates`, named('t', { template })],
  [`${group('apps')}/deployments`, named('d', { spec: { selector: { matchLabels: labels }, template } })],
  [`${group('apps')}/replicasets`, named('rs', { spec: { selector: { matchLabels: labels }, template } })],
  [`${group('apps')}/daemonsets`, named('ds', { spec: { selector: { matchLabels: labels }, template } })],
  [
    `${group('apps')}/statefulsets`,
    named('ss', { spec: { serviceName: 'web', selector: { matchLabels: labels }, template } }),
  ],
  [`${group('batch')}/jobs`, named('j', { spec: { template: once() } })],
  [
    `${group('batch')}/cronjobs`,
    named('cj', { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: once() } } } }),
  ],
  [
    `${group('autoscaling', 'v2')}/horizontalpodautoscalers`,
    named('h', { spec: { maxReplicas: 3, scaleTargetRef: target() } }),
  ],
  [
    `${group('policy')}/poddisruptionbudgets`,
    named('b', { spec: { minAvailable: 1, selector: { matchLabels: labels } } }),
  ],
  [`${group('networking.k8s.io')}/ingresses`, named('i', { spec: { defaultBackend: backend() } })],
  [`${group('networking.k8s.io')}/networkpolicies`, named('np', { spec: { podSelector: {} } })],
  [`${cluster('networking.k8s.io')}/ingressclasses`, named('ic', { spec: { controller: 'example.com/c' } })],
  [`${group('discovery.k8s.io')}/endpointslices`, named('es', { addressType: 'IPv4', endpoints: [], ports: [] })],
  [
    `${group('coordination.k8s.io')}/leases`,
    named('lease', { spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } }),
  ],
  [`${group('rbac.authorization.k8s.io')}/roles`, named('reader', { rules: [rule()] })],
  [`${group('rbac.authorization.k8s.io')}/rolebindings`, named('readers', binding('Role'))],
  [`${cluster('rbac.authorization.k8s.io')}/clusterroles`, named('reader', { rules: [rule()] })],
  [`${cluster('rbac.authorization.k8s.io')}/clusterrolebindings`, named('readers', binding('ClusterRole'))],
  [`${cluster('scheduling.k8s.io')}/priorityclasses`, named('high', { value: 1000 })],
  [`${cluster('storage.k8s.io')}/storageclasses`, named('fast', { provisioner: 'example.com/p' })],
  [`${cluster('storage.k8s.io')}/csidrivers`, named('csi.example.com', { spec: {} })],
  [`${cluster('node.k8s.io')}/runtimeclasses`, named('rt', { handler: 'h' })],
  [`${cluster('apiextensions.k8s.io')}/customresourcedefinitions`, definition],
];

/** Functions, so that the table above reads from top to bottom. */
function claim(): object {
  return { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
}
function volume(): object {
  return { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/none' } };
}
function once(): object {
  return { spec: { ...template.spec, restartPolicy: 'Never' } };
}
function target(): object {
  return { kind: 'Deployment', apiVersion: 'apps/v1', name: 'd' };
}
function backend(): object {
  return { service: { name: 'web', port: { number: 80 } } };
}
function rule(): object {
  return { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] };
}
function binding(kind: string): object {
  return {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
  };
}

export async function makeBuiltinObjects(access: Access): Promise<void> {
  for (const [path, object] of objects) await access.create(path, object);
}

export async function makeObjects(access: Access): Promise<void> {
  await makeBuiltinObjects(access);
  for (const name of ['w1', 'w2']) await access.create(`${group('example.com')}/widgets`, widget(name));
  await access.merge(`${group('example.com')}/widgets/w1/status`, { status: { seen: true } });
}

export const widget = (name: string): object => ({
  kind: 'Widget',
  apiVersion: 'example.com/v1',
  metadata: { name, finalizers: ['example.com/kept'] },
  spec: { size: 3 },
});
