/**
 * konnectivity-server beside each API server: agents inside the control plane connect to it, and the API server reaches kubelets, pods and
 * Services through their connections. The API server uses a socket in a volume of the pod.
 */

import { ConfigMap } from '@hangar/client/kinds/core-v1';
import type { Container, Probe, ServicePort, Volume, VolumeMount } from '@hangar/client/kinds/core-v1';
import { konnectivityAgentName, konnectivityAudience } from '@hangar/node-objects';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import { bundleName, certificateNames, componentKubeconfigsName, egressName } from '../names.ts';
import type { Plane } from '../plane.ts';
import { folders, konnectivity, ports } from './defaults.ts';
import {
  argumentsOf,
  containerSecurity,
  filesVolume,
  imageOf,
  kubeconfigFile,
  metadataOf,
  mountOf,
} from './workload.ts';

export const konnectivityContainer = 'konnectivity-server';
/** User of konnectivity-server in the control plane. It reviews the tokens of agents. */
export const konnectivityUser = 'system:konnectivity-server';

/** Where several control planes share an address, agents are routed by this name. */
export const konnectivityHost = (host: string): string => `konnectivity.${host}`;

const socket = `${folders.konnectivity}/konnectivity-server.socket`;
const file = 'egress.yaml';
export const egressFile = `${folders.egress}/${file}`;
const portName = 'konnectivity';

export const konnectivityServicePort: ServicePort = {
  name: portName,
  port: ports.konnectivityAgents,
  targetPort: portName,
  protocol: 'TCP',
};

/** Of the API server. */
export const konnectivityMounts: readonly VolumeMount[] = [
  mountOf('egress', folders.egress),
  { name: 'konnectivity', mountPath: folders.konnectivity },
];

/** Connections to the control plane itself and to etcd are direct. */
export function egressConfiguration(plane: Plane): Rendered {
  const connection = { proxyProtocol: 'GRPC', transport: { uds: { udsName: socket } } };
  const configuration = {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection }],
  };
  return rendered(ConfigMap, {
    metadata: metadataOf(plane, egressName(plane), 'kube-apiserver'),
    data: { [file]: `${JSON.stringify(configuration, undefined, 2)}\n` },
  });
}

export function konnectivityVolumes(plane: Plane): Volume[] {
  const names = certificateNames(plane);
  const kubeconfig = kubeconfigFile(konnectivityContainer);
  const items = [{ key: kubeconfig, path: kubeconfig }];
  return [
    { name: 'egress', configMap: { name: egressName(plane) } },
    { name: 'konnectivity', emptyDir: {} },
    { name: 'konnectivity-kubeconfig', configMap: { name: componentKubeconfigsName(plane), items } },
    filesVolume('konnectivity-pki', [
      { configMap: bundleName(plane), items: { 'ca.crt': 'ca.crt' } },
      { secret: names.konnectivityServer, items: { 'tls.crt': 'server.crt', 'tls.key': 'server.key' } },
      { secret: names.konnectivityClient, items: { 'tls.crt': 'client.crt', 'tls.key': 'client.key' } },
    ]),
  ];
}

/** The arguments that users cannot set. */
export const reservedKonnectivityArguments = (): Record<string, string> => ({
  mode: 'grpc',
  'uds-name': socket,
  'server-port': '0',
  'agent-bind-address': '0.0.0.0',
  'agent-port': String(ports.konnectivityAgents),
  'admin-bind-address': '127.0.0.1',
  'admin-port': String(ports.konnectivityAdmin),
  'health-bind-address': '0.0.0.0',
  'health-port': String(ports.konnectivityHealth),
  'cluster-cert': `${folders.pki}/server.crt`,
  'cluster-key': `${folders.pki}/server.key`,
  'agent-namespace': 'kube-system',
  'agent-service-account': konnectivityAgentName,
  'authentication-audience': konnectivityAudience,
  kubeconfig: `${folders.kubeconfigs}/${kubeconfigFile(konnectivityContainer)}`,
});

/** An agent on the same node as the target is the first choice. */
const defaultArguments = { 'proxy-strategies': 'destHost,default', 'keepalive-time': '30s' };

export function konnectivityServer({ spec }: Plane): Container {
  const settings = spec.deployment?.apiServer?.konnectivity;
  const probe = (numbers: Partial<Probe>): Probe => ({
    httpGet: { scheme: 'HTTP', port: ports.konnectivityHealth, path: '/healthz' },
    ...numbers,
  });
  const resources = settings?.resources ?? { requests: { cpu: '10m', memory: '32Mi' } };
  return {
    name: konnectivityContainer,
    image: imageOf(settings?.image, { repository: konnectivity.server, tag: konnectivity.tag }),
    imagePullPolicy: settings?.imagePullPolicy ?? 'IfNotPresent',
    args: argumentsOf(defaultArguments, settings?.args, reservedKonnectivityArguments()),
    ports: [{ name: portName, containerPort: ports.konnectivityAgents, protocol: 'TCP' }],
    resources: resources as NonNullable<Container['resources']>,
    volumeMounts: [
      mountOf('konnectivity-pki', folders.pki),
      mountOf('konnectivity-kubeconfig', folders.kubeconfigs),
      { name: 'konnectivity', mountPath: folders.konnectivity },
    ],
    // Its readiness depends on agents, and the API server is useful without them.
    livenessProbe: probe({ periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 }),
    securityContext: containerSecurity,
  };
}
