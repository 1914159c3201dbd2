/** Services, networking.k8s.io and policy. */

import { all, labels, selector, specs } from './build.ts';

export const port = { port: 80 };
export const network = [
  specs(
    'v1',
    'Service',
    { ports: [port] },
    {
      type: 'NodePort',
      selector: labels,
      ports: [
        { ...port, name: 'a', targetPort: 'web' },
        { port: 81, name: 'b', protocol: 'UDP' },
      ],
    },
    { type: 'LoadBalancer', ports: [port], sessionAffinity: 'ClientIP', externalTrafficPolicy: 'Local' },
    { type: 'LoadBalancer', ports: [port], allocateLoadBalancerNodePorts: false, loadBalancerClass: 'example.com/x' },
    { type: 'ExternalName', externalName: 'example.com' },
    { clusterIP: 'None', selector: labels },
    { ports: [port], externalIPs: ['1.2.3.4'], sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
  ),
  all(
    'v1',
    'Endpoints',
    {},
    {
      subsets: [
        {
          addresses: [{ ip: '1.2.3.4' }],
          ports: [
            { ...port, name: 'y' },
            { port: 1, protocol: 'UDP', name: 'x' },
          ],
        },
      ],
    },
  ),
  all(
    'discovery.k8s.io/v1',
    'EndpointSlice',
    { addressType: 'IPv4', endpoints: [] },
    {
      addressType: 'IPv4',
      endpoints: [
        { addresses: ['1.2.3.4'], conditions: { ready: true }, deprecatedTopology: { a: 'b' } },
        { addresses: ['1.2.3.5'] },
      ],
      ports: [{}, { name: 'a', port: 3, protocol: 'UDP' }],
    },
  ),
  specs(
    'networking.k8s.io/v1',
    'Ingress',
    { defaultBackend: { service: { name: 's', port: { number: 1 } } } },
    {
      rules: [
        {
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { name: 'w' } } } }],
          },
        },
      ],
    },
  ),
  specs(
    'networking.k8s.io/v1',
    'IngressClass',
    { controller: 'example.com/c' },
    {
      controller: 'example.com/c',
      parameters: { kind: 'K', name: 'n', apiGroup: 'example.com' },
    },
  ),
  specs(
    'networking.k8s.io/v1',
    'NetworkPolicy',
    { podSelector: {} },
    {
      podSelector: selector,
      egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 1 }, {}] }],
      ingress: [{ from: [{ podSelector: {} }] }],
    },
  ),
  all('networking.k8s.io/v1', 'IPAddress', {
    metadata: { name: '10.9.9.9' },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'x' } },
  }),
  specs('networking.k8s.io/v1', 'ServiceCIDR', { cidrs: ['10.77.0.0/24'] }),
  specs('policy/v1', 'PodDisruptionBudget', { minAvailable: 1, selector }, { maxUnavailable: '50%', selector }),
];
