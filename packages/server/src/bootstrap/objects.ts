/** Initial objects of a control plane. */

import type { JsonObject } from '@hangar/api';
import { builtinApiServices } from '../resources/api-services.ts';

export interface BootstrapOptions {
  /** Address at which clients in the cluster reach the API: the `kubernetes` service. */
  readonly serviceAddress: string;
  readonly serviceCidr: string;
  /** Address on which the server listens. */
  readonly endpoint: { readonly address: string; readonly port: number };
  /**
   * Controllers of this process serve the control plane, so it initially has the objects that they would create in its namespaces: the
   * account `default`, and in a tenant `kube-root-ca.crt`. Absent: false, as with a kube-apiserver without controllers.
   */
  readonly hasAccounts?: boolean;
}

interface BootstrapObject extends JsonObject {
  /** The object describes this server and is updated with it. */
  readonly isOurs?: boolean;
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Namespaces that every control plane has. */
export const bornNamespaces: readonly string[] = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

export function bootstrapObjects(options: BootstrapOptions, now: string): BootstrapObject[] {
  return [
    ...bornNamespaces.map((name) => ({ kind: 'Namespace', apiVersion: 'v1', metadata: { name } })),
    ...(options.hasAccounts ? bornNamespaces.map(defaultAccount) : []),
    ...priorityClasses,
    ...builtinApiServices(now),
    serviceCidr(options, now),
    address(options),
    ...endpointObjects({
      serviceAddress: options.serviceAddress,
      addresses: [options.endpoint.address],
      port: options.endpoint.port,
    }),
    legacyTokenTracking(now),
  ];
}

const defaultAccount = (namespace: string): BootstrapObject => ({
  kind: 'ServiceAccount',
  apiVersion: 'v1',
  metadata: { name: 'default', namespace },
});

const priorityClasses: BootstrapObject[] = [
  priorityClass(
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ),
  priorityClass(
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their current node.',
  ),
];

function priorityClass(name: string, value: number, description: string): BootstrapObject {
  return { kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', metadata: { name }, value, description };
}

/** Time since which the use of service-account tokens in secrets is recorded; controllers clean up unused ones by it. */
const legacyTokenTracking = (now: string): BootstrapObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace: 'kube-system' },
  data: { since: now.slice(0, 10) },
});

const serviceCidr = ({ serviceCidr: cidr }: BootstrapOptions, now: string): BootstrapObject => ({
  kind: 'ServiceCIDR',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: [cidr] },
  status: {
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: '',
        message: 'Kubernetes default Service CIDR is ready',
        lastTransitionTime: now,
      },
    ],
  },
});

const address = ({ serviceAddress }: BootstrapOptions): BootstrapObject =>
  ({
    kind: 'IPAddress',
    apiVersion: 'networking.k8s.io/v1',
    metadata: {
      name: serviceAddress,
      labels: {
        'ipaddress.kubernetes.io/ip-family': 'IPv4',
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      },
    },
    spec: { parentRef: { group: '', resource: 'services', namespace: 'default', name: 'kubernetes' } },
  }) as BootstrapObject;

const labels = { component: 'apiserver', provider: 'kubernetes' };

export interface ServedEndpoint {
  /** Cluster IP of the service. */
  readonly serviceAddress: string;
  /** IP addresses of all servers, of one family. */
  readonly addresses: readonly string[];
  readonly port: number;
}

/** Returns the service `kubernetes` with its Endpoints and EndpointSlice: how clients in the cluster reach the API. */
export const endpointObjects = (endpoint: ServedEndpoint): BootstrapObject[] => [
  service(endpoint),
  ...endpoints(endpoint),
];

const service = ({ serviceAddress, port }: ServedEndpoint): BootstrapObject => ({
  isOurs: true,
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name: 'kubernetes', namespace: 'default', labels } as BootstrapObject['metadata'],
  spec: {
    type: 'ClusterIP',
    clusterIP: serviceAddress,
    clusterIPs: [serviceAddress],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
    sessionAffinity: 'None',
  },
});

const endpoints = ({ addresses, port }: ServedEndpoint): BootstrapObject[] => [
  {
    isOurs: true,
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
    } as BootstrapObject['metadata'],
    subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ name: 'https', port, protocol: 'TCP' }] }],
  },
  {
    isOurs: true,
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    } as BootstrapObject['metadata'],
    addressType: addresses.some((one) => one.includes(':')) ? 'IPv6' : 'IPv4',
    endpoints: addresses.map((one) => ({ addresses: [one], conditions: { ready: true } })),
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  },
];
