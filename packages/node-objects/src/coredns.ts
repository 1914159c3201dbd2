/** CoreDNS: DNS for pods, with the objects and names of a cluster that kubeadm created, because kubelets and tools look for them. */

import { Deployment } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Service, ServiceAccount } from '@hangar/client/kinds/core-v1';
import type { Container } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { argumentsOf } from './arguments.ts';
import { dnsAddress } from './network.ts';
import type { ClusterNetwork } from './network.ts';
import { onLinux, system } from './pods.ts';
import type { PodSettings } from './pods.ts';
import { rendered } from './rendered.ts';
import type { Rendered } from './rendered.ts';

export interface CorednsOptions extends PodSettings {
  readonly image: string;
  readonly network: ClusterNetwork;
  /** Absent: 2. */
  readonly replicas?: number | undefined;
}

const rbacGroup = 'rbac.authorization.k8s.io';
const role = 'system:coredns';
const labels = { 'k8s-app': 'kube-dns' };

export function corednsObjects(options: CorednsOptions): Rendered[] {
  const { network, replicas = 2 } = options;
  const watched = ['list', 'watch'];
  return [
    rendered(ServiceAccount, { metadata: system('coredns') }),
    rendered(ClusterRole, {
      metadata: { name: role },
      rules: [
        { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: watched },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: watched },
      ],
    }),
    rendered(ClusterRoleBinding, {
      metadata: { name: role },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', ...system('coredns') }],
    }),
    rendered(ConfigMap, { metadata: system('coredns'), data: { Corefile: corefile(network.domain) } }),
    rendered(Service, {
      metadata: {
        ...system('kube-dns'),
        labels: { ...labels, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' },
        annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9153' },
      },
      spec: {
        clusterIP: dnsAddress(network),
        selector: labels,
        ports: [
          { name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 },
          { name: 'dns-tcp', protocol: 'TCP', port: 53, targetPort: 53 },
          { name: 'metrics', protocol: 'TCP', port: 9153, targetPort: 9153 },
        ],
      },
    }),
    rendered(Deployment, {
      metadata: { ...system('coredns'), labels },
      spec: {
        replicas,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec(options) },
      },
    }),
  ];
}

const podSpec = (options: CorednsOptions) => ({
  serviceAccountName: 'coredns',
  priorityClassName: options.priorityClassName ?? 'system-cluster-critical',
  dnsPolicy: 'Default' as const,
  nodeSelector: onLinux,
  tolerations: [
    { key: 'CriticalAddonsOnly', operator: 'Exists' as const },
    { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' as const },
  ],
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          podAffinityTerm: {
            topologyKey: 'kubernetes.io/hostname',
            labelSelector: { matchExpressions: [{ key: 'k8s-app', operator: 'In' as const, values: ['kube-dns'] }] },
          },
        },
      ],
    },
  },
  containers: [container(options)],
  volumes: [{ name: 'config-volume', configMap: { name: 'coredns', items: [{ key: 'Corefile', path: 'Corefile' }] } }],
});

const container = ({ image, imagePullPolicy, resources, args }: CorednsOptions): Container => ({
  name: 'coredns',
  image,
  imagePullPolicy: imagePullPolicy ?? 'IfNotPresent',
  args: argumentsOf({ conf: '/etc/coredns/Corefile' }, args),
  resources: resources ?? { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
  ports: [
    { name: 'dns', containerPort: 53, protocol: 'UDP' },
    { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
    { name: 'metrics', containerPort: 9153, protocol: 'TCP' },
    { name: 'liveness-probe', containerPort: 8080, protocol: 'TCP' },
    { name: 'readiness-probe', containerPort: 8181, protocol: 'TCP' },
  ],
  livenessProbe: {
    httpGet: { path: '/health', port: 'liveness-probe', scheme: 'HTTP' },
    initialDelaySeconds: 60,
    timeoutSeconds: 5,
    failureThreshold: 5,
  },
  readinessProbe: { httpGet: { path: '/ready', port: 'readiness-probe', scheme: 'HTTP' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
  },
  volumeMounts: [{ name: 'config-volume', mountPath: '/etc/coredns', readOnly: true }],
});

const corefile = (domain: string): string => `.:53 {
    errors
    health {
        lameduck 5s
    }
    ready
    kubernetes ${domain} in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
        max_concurrent 1000
    }
    cache 30 {
        disable success ${domain}
        disable denial ${domain}
    }
    loop
    reload
    loadbalance
}
`;
