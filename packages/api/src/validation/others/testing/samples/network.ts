/** Networks: policies, ingresses, addresses. */

import { meta, namespaced, withSpec, withStatus } from './sample.ts';
import type { JsonObject } from '../../../../object.ts';
import type { Sample } from './sample.ts';

const group = '/apis/networking.k8s.io/v1';
const apiVersion = 'networking.k8s.io/v1';

const backend = { service: { name: 'web', port: { number: 80 } } };
const ingressOf = (change: JsonObject, annotations: JsonObject = {}): JsonObject => ({
  apiVersion,
  kind: 'Ingress',
  metadata: meta('ingress', { annotations }),
  spec: change,
});

export const networkSamples: readonly Sample[] = [
  {
    path: namespaced(group, 'networkpolicies'),
    object: {
      apiVersion,
      kind: 'NetworkPolicy',
      metadata: meta('policy'),
      spec: {
        podSelector: { matchLabels: { a: 'b' } },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          {
            ports: [{ port: 80, endPort: 90, protocol: 'TCP' }, { port: 'web' }],
            from: [
              { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
              { podSelector: {}, namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
            ],
          },
        ],
        egress: [{ ports: [{ port: 53, protocol: 'UDP' }], to: [{ ipBlock: { cidr: '2001:db8::/32' } }] }],
      },
    },
    more: [
      ['10.0.0.0/8', '11.0.0.0/16'],
      ['10.0.0.0/8', '10.0.0.0/8'],
      ['10.0.0.1/8', '10.1.0.0/16'],
      ['010.0.0.0/8', '10.1.0.0/16'],
      ['10.0.0.0/08', '10.1.0.0/16'],
      ['::ffff:10.0.0.0/104', '10.1.0.0/16'],
      ['10.0.0.0/8', '2001:db8::/32'],
      ['0.0.0.0/0', '::/0'],
    ].map(([cidr, except]) => ({
      apiVersion,
      kind: 'NetworkPolicy',
      metadata: meta('policy'),
      spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr, except: [except] } }] }] },
    })),
  },
  {
    path: namespaced(group, 'ingresses'),
    object: ingressOf({
      ingressClassName: 'nginx',
      defaultBackend: { resource: { apiGroup: 'a.b', kind: 'K', name: 'n' } },
      tls: [{ hosts: ['a.b', '*.c.d'], secretName: 's' }],
      rules: [
        { host: 'a.b', http: { paths: [{ path: '/x', pathType: 'Prefix', backend }] } },
        {
          host: '*.c.d',
          http: {
            paths: [{ path: '/', pathType: 'Exact', backend: { service: { name: 'web', port: { name: 'http' } } } }],
          },
        },
        { http: { paths: [{ pathType: 'ImplementationSpecific', backend }] } },
      ],
    }),
    more: [
      ingressOf({}),
      ingressOf({ defaultBackend: {} }),
      ingressOf({ defaultBackend: { ...backend, resource: { kind: 'K', name: 'n' } } }),
      ingressOf({ defaultBackend: { service: { name: 'web', port: { name: 'x', number: 1 } } } }),
      ingressOf({ rules: [{ host: '1.2.3.4' }, { host: 'a.*.b' }, { http: { paths: [] } }] }),
      ...['//', '/./a', '/../a', '/%2f', '/..', '/.', 'x'].map((path) =>
        ingressOf({ rules: [{ http: { paths: [{ path, pathType: 'Exact', backend }] } }] }),
      ),
      ingressOf({ defaultBackend: backend, ingressClassName: 'a' }, { 'kubernetes.io/ingress.class': 'b' }),
    ],
    statuses: [['status', withStatus({ loadBalancer: { ingress: [{ ip: '1.2.3.4', hostname: 'a.b' }] } })]],
  },
  {
    path: `${group}/ingressclasses`,
    object: {
      apiVersion,
      kind: 'IngressClass',
      metadata: meta('nginx'),
      spec: {
        controller: 'a.b/c',
        parameters: { apiGroup: 'a.b', kind: 'K', name: 'n', scope: 'Namespace', namespace: 'x' },
      },
    },
    updates: [(stored) => withSpec(stored, { parameters: { kind: 'K', name: 'n', scope: 'Cluster', namespace: 'x' } })],
  },
  {
    path: `${group}/ipaddresses`,
    object: {
      apiVersion,
      kind: 'IPAddress',
      metadata: meta('10.0.0.99'),
      spec: { parentRef: { group: 'a.b', resource: 'services', namespace: 'x', name: 'y' } },
    },
  },
  {
    path: `${group}/servicecidrs`,
    object: { apiVersion, kind: 'ServiceCIDR', metadata: meta('more'), spec: { cidrs: ['10.9.0.0/24'] } },
    more: [
      ['10.9.0.1/24'],
      ['10.9.0.0/24', '10.8.0.0/24'],
      ['10.9.0.0/24', '2001:DB8::/64'],
      ['10.9.0.0/024'],
      ['a', 'b', 'c'],
      ['::ffff:10.9.0.0/120'],
    ].map((cidrs) => ({ apiVersion, kind: 'ServiceCIDR', metadata: meta('more'), spec: { cidrs } })),
    updates: [
      (stored) => withSpec(stored, { cidrs: ['10.9.0.0/24', '2001:db8::/64'] }),
      (stored) => withSpec(stored, { cidrs: ['10.9.0.0/24', '10.7.0.0/24'] }),
    ],
  },
];
