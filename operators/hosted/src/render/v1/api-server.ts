/** kube-apiserver: its Service, its Deployment, and the files that it reads. */

import { Deployment } from '@hangar/client/kinds/apps-v1';
import { Service } from '@hangar/client/kinds/core-v1';
import type { Volume, VolumeMount } from '@hangar/client/kinds/core-v1';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import {
  apiServiceName,
  auditName,
  authenticationName,
  authorityNames,
  bundleName,
  certificateNames,
  etcdMembers,
  workloadName,
} from '../names.ts';
import { podPortOf } from '../plane.ts';
import type { Plane } from '../plane.ts';
import { auditArguments, auditProxyContainers } from './audit.ts';
import { folders, ports } from './defaults.ts';
import { etcdReplicas } from './etcd.ts';
import {
  egressConfiguration,
  egressFile,
  konnectivityMounts,
  konnectivityServer,
  konnectivityServicePort,
  konnectivityVolumes,
} from './konnectivity.ts';
import { networkPolicies } from './network-policies.ts';
import { isPublicAddress } from '../../addresses.ts';
import {
  argumentsOf,
  containerOf,
  disruptionBudget,
  filesVolume,
  metadataOf,
  mountOf,
  podTemplate,
  selectorOf,
} from './workload.ts';

const component = 'kube-apiserver';
/** Name of the port in the Service and in the pods. */
export const apiPortName = 'api';

export function apiService(plane: Plane): Rendered[] {
  const { annotations, loadBalancerClass } = plane.spec.service ?? {};
  const type = plane.serviceType;
  return [
    rendered(Service, {
      metadata: { ...metadataOf(plane, apiServiceName(plane), component), ...(annotations ? { annotations } : {}) },
      spec: {
        type,
        ...(type === 'LoadBalancer' && loadBalancerClass ? { loadBalancerClass } : {}),
        selector: selectorOf(plane, component),
        ports: [
          { name: apiPortName, port: plane.port, targetPort: apiPortName, protocol: 'TCP' },
          ...(plane.hasKonnectivity ? [konnectivityServicePort] : []),
        ],
      },
    }),
  ];
}

/** The arguments that users cannot set. */
export function reservedApiServerArguments(plane: Plane): Record<string, string> {
  const { pki } = folders;
  const host = plane.endpoint?.host;
  return {
    'secure-port': String(podPortOf(plane)),
    'bind-address': '0.0.0.0',
    // Clients inside of the control plane use this address through the Service `kubernetes`.
    ...(host !== undefined && isPublicAddress(host) ? { 'advertise-address': host } : {}),
    // All members instead of a Service: the API server uses another member as soon as one does not respond.
    'etcd-servers': [...etcdMembers(plane, etcdReplicas(plane)).values()]
      .map((member) => `https://${member}:${ports.etcdClient}`)
      .join(','),
    'etcd-cafile': `${pki}/etcd-ca.crt`,
    'etcd-certfile': `${pki}/etcd-client.crt`,
    'etcd-keyfile': `${pki}/etcd-client.key`,
    'client-ca-file': `${pki}/ca.crt`,
    'tls-cert-file': `${pki}/apiserver.crt`,
    'tls-private-key-file': `${pki}/apiserver.key`,
    'kubelet-client-certificate': `${pki}/kubelet-client.crt`,
    'kubelet-client-key': `${pki}/kubelet-client.key`,
    'proxy-client-cert-file': `${pki}/proxy-client.crt`,
    'proxy-client-key-file': `${pki}/proxy-client.key`,
    'requestheader-client-ca-file': `${pki}/front-proxy-ca.crt`,
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-username-headers': 'X-Remote-User',
    'service-account-key-file': `${pki}/sa.pub`,
    'service-account-signing-key-file': `${pki}/sa.key`,
    ...(plane.hasKonnectivity ? { 'egress-selector-config-file': egressFile } : {}),
    'service-cluster-ip-range': plane.network.serviceCidrs.join(','),
    ...(hasProviders(plane) ? { 'authentication-config': `${folders.authentication}/config.yaml` } : {}),
  };
}

const defaultArguments = ({ network }: Plane): Record<string, string> => ({
  'allow-privileged': 'true',
  'authorization-mode': 'Node,RBAC',
  'enable-admission-plugins': 'NodeRestriction',
  'enable-bootstrap-token-auth': 'true',
  'kubelet-preferred-address-types': 'InternalIP,ExternalIP,Hostname',
  'service-account-issuer': `https://kubernetes.default.svc.${network.domain}`,
  // By default, open watches delay the exit of a terminating API server until its limit of 60 seconds.
  'shutdown-watch-termination-grace-period': '10s',
  profiling: 'false',
});

/**
 * Values are stored like those of the tenant, so that they can go back, and its tokens stay valid. The Service `kubernetes` keeps the
 * address of the tenant, which passes requests on: nodes may not reach the API server itself.
 */
const replicaArguments = ({ tenantIssuer }: Plane): Record<string, string> =>
  tenantIssuer === undefined
    ? {}
    : {
        'service-account-issuer': tenantIssuer,
        'storage-media-type': 'application/json',
        'endpoint-reconciler-type': 'none',
      };

export const hasProviders = ({ spec }: Plane): boolean =>
  Object.keys(spec.oidcProviders ?? {}).length > 0 || (spec.authentication?.jwt ?? []).length > 0;

export function apiServer(plane: Plane, files: string): Rendered[] {
  const { apiServer: settings } = plane.spec.deployment ?? {};
  const { volumes, mounts } = extraMounts(plane);
  const args = argumentsOf(
    defaultArguments(plane),
    auditArguments(plane),
    settings?.args,
    replicaArguments(plane),
    reservedApiServerArguments(plane),
  );
  const container = containerOf({
    component,
    image: { repository: component, tag: plane.version.tag },
    settings,
    args,
    ports: { [apiPortName]: podPortOf(plane) },
    mounts: [
      mountOf('pki', folders.pki),
      ...(plane.hasKonnectivity ? konnectivityMounts : []),
      ...(settings?.audit ? [mountOf('audit', folders.audit)] : []),
      ...(hasProviders(plane) ? [mountOf('authentication', folders.authentication)] : []),
      ...mounts,
    ],
    probes: { scheme: 'HTTPS', port: podPortOf(plane), live: '/livez', ready: '/readyz' },
  });
  const sidecars = auditProxyContainers(plane);
  const template = podTemplate({
    plane,
    component,
    settings,
    initContainers: sidecars,
    containers: [container, ...(plane.hasKonnectivity ? [konnectivityServer(plane)] : [])],
    volumes: [
      pkiVolume(plane),
      ...(plane.hasKonnectivity ? konnectivityVolumes(plane) : []),
      ...(settings?.audit ? [{ name: 'audit', secret: { secretName: auditName(plane), defaultMode: 0o440 } }] : []),
      ...(hasProviders(plane) ? [{ name: 'authentication', configMap: { name: authenticationName(plane) } }] : []),
      ...(sidecars.length > 0 ? [{ name: 'tmp', emptyDir: {} }] : []),
      ...volumes,
    ],
    files,
    // Load balancers and clients need time to move to another API server.
    terminationGracePeriodSeconds: 90,
  });
  return [
    rendered(Deployment, {
      metadata: metadataOf(plane, workloadName(plane, component), component),
      spec: {
        replicas: plane.spec.replicas ?? 2,
        selector: { matchLabels: selectorOf(plane, component) },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template,
      },
    }),
    ...(plane.hasKonnectivity ? [egressConfiguration(plane)] : []),
    disruptionBudget(plane, component),
    networkPolicies.apiServer(plane),
  ];
}

function pkiVolume(plane: Plane): Volume {
  const names = certificateNames(plane);
  const pair = (name: string) => ({ 'tls.crt': `${name}.crt`, 'tls.key': `${name}.key` });
  return filesVolume('pki', [
    {
      configMap: bundleName(plane),
      items: {
        'ca.crt': 'ca.crt',
        'etcd-ca.crt': 'etcd-ca.crt',
        'front-proxy-ca.crt': 'front-proxy-ca.crt',
        'sa.pub': 'sa.pub',
      },
    },
    { secret: names.apiServer, items: pair('apiserver') },
    { secret: names.kubeletClient, items: pair('kubelet-client') },
    { secret: names.etcdClient, items: pair('etcd-client') },
    { secret: names.proxyClient, items: pair('proxy-client') },
    { secret: authorityNames(plane).serviceAccount, items: { 'tls.key': 'sa.key' } },
  ]);
}

/** `spec.deployment.apiServer.mounts`. Names get a prefix, because users do not know the names of other volumes. */
function extraMounts({ spec }: Plane): { volumes: Volume[]; mounts: VolumeMount[] } {
  const all = Object.entries(spec.deployment?.apiServer?.mounts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    volumes: all.map(([name, { configMap, secret }]) => ({
      name: `extra-${name}`,
      ...(configMap ? { configMap } : {}),
      ...(secret ? { secret } : {}),
    })),
    mounts: all.map(([name, { path }]) => mountOf(`extra-${name}`, path)),
  };
}
