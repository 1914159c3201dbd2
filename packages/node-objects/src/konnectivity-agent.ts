/**
 * konnectivity agents: the API server reaches kubelets, pods and Services of nodes behind NAT through their connections. By default one
 * agent runs on the network of each node and is the first choice for its own node. With a number of replicas, that many agents run as
 * ordinary pods.
 */

import { DaemonSet, Deployment } from '@hangar/client/kinds/apps-v1';
import { ServiceAccount } from '@hangar/client/kinds/core-v1';
import type { Container, PodTemplateSpec } from '@hangar/client/kinds/core-v1';
import { argumentsOf } from './arguments.ts';
import { everywhere, onLinux, system } from './pods.ts';
import type { PodSettings } from './pods.ts';
import { rendered } from './rendered.ts';
import type { Rendered } from './rendered.ts';

/** Name of the service account and of the DaemonSet or Deployment. */
export const konnectivityAgentName = 'konnectivity-agent';
/** Audience of the tokens of agents. */
export const konnectivityAudience = 'system:konnectivity-server';

export interface KonnectivityAgentOptions extends PodSettings {
  readonly image: string;
  /** URL that agents connect to. */
  readonly server: string;
  /** Number of agents in a Deployment. Absent: a DaemonSet. */
  readonly replicas?: number | undefined;
}

const name = konnectivityAgentName;
const labels = { 'k8s-app': name };
const healthPort = 8093;
const tokens = '/var/run/secrets/tokens';

export function konnectivityAgentObjects(options: KonnectivityAgentOptions): Rendered[] {
  const { replicas } = options;
  const metadata = { ...system(name), labels };
  const selector = { matchLabels: labels };
  const template = podTemplate(options);
  return [
    rendered(ServiceAccount, { metadata: system(name) }),
    replicas === undefined
      ? rendered(DaemonSet, { metadata, spec: { selector, updateStrategy: { type: 'RollingUpdate' }, template } })
      : rendered(Deployment, { metadata, spec: { replicas, selector, template } }),
  ];
}

function podTemplate(options: KonnectivityAgentOptions): PodTemplateSpec {
  const isOnEachNode = options.replicas === undefined;
  const serviceAccountToken = { path: `${name}-token`, audience: konnectivityAudience };
  const antiAffinity = {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          podAffinityTerm: { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' },
        },
      ],
    },
  };
  return {
    metadata: { labels },
    spec: {
      serviceAccountName: name,
      priorityClassName:
        options.priorityClassName ?? (isOnEachNode ? 'system-node-critical' : 'system-cluster-critical'),
      ...(isOnEachNode ? { hostNetwork: true } : { dnsPolicy: 'Default', affinity: antiAffinity }),
      nodeSelector: onLinux,
      tolerations: everywhere,
      containers: [container(options)],
      volumes: [{ name: `${name}-token`, projected: { sources: [{ serviceAccountToken }] } }],
    },
  };
}

function container({ image, server, imagePullPolicy, resources, args, replicas }: KonnectivityAgentOptions): Container {
  const { hostname, port } = new URL(server);
  const defaults = {
    'ca-cert': '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
    'service-account-token-path': `${tokens}/${name}-token`,
    'proxy-server-host': hostname.replace(/^\[(.*)\]$/, '$1'),
    'proxy-server-port': port || '443',
    ...(replicas === undefined
      ? { 'agent-id': '$(NODE_NAME)', 'agent-identifiers': 'host=$(NODE_NAME)&ipv4=$(HOST_IP)' }
      : { 'agent-id': '$(POD_NAME)' }),
    // An agent finds all servers behind one address by connecting again and again.
    'sync-forever': 'true',
  };
  const variable = (variableName: string, fieldPath: string) => ({
    name: variableName,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return {
    name,
    image,
    imagePullPolicy: imagePullPolicy ?? 'IfNotPresent',
    args: argumentsOf(defaults, args),
    env: [
      variable('POD_NAME', 'metadata.name'),
      variable('NODE_NAME', 'spec.nodeName'),
      variable('HOST_IP', 'status.hostIP'),
    ],
    livenessProbe: { httpGet: { path: '/healthz', port: healthPort }, initialDelaySeconds: 15, timeoutSeconds: 15 },
    readinessProbe: { httpGet: { path: '/readyz', port: healthPort }, timeoutSeconds: 15 },
    resources: resources ?? { requests: { cpu: '20m', memory: '30Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    volumeMounts: [{ name: `${name}-token`, mountPath: tokens, readOnly: true }],
  };
}
