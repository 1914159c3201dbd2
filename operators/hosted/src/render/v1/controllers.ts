/** kube-controller-manager and kube-scheduler: Deployments that elect a leader, and their kubeconfigs. */

import { Deployment } from '@hangar/client/kinds/apps-v1';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import type { Volume } from '@hangar/client/kinds/core-v1';
import type { ScalablePodSpec } from '../../api/index.ts';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import {
  apiServiceHost,
  authorityNames,
  bundleName,
  certificateNames,
  componentKubeconfigsName,
  workloadName,
  rootCaFile,
} from '../names.ts';
import type { Plane } from '../plane.ts';
import { folders, ports } from './defaults.ts';
import { konnectivityContainer } from './konnectivity.ts';
import { networkPolicies } from './network-policies.ts';
import {
  argumentsOf,
  containerOf,
  disruptionBudget,
  filesVolume,
  kubeconfigFile,
  metadataOf,
  mountOf,
  podTemplate,
  selectorOf,
} from './workload.ts';

type Controller = 'kube-controller-manager' | 'kube-scheduler';

/**
 * The kubeconfigs name files instead of containing certificates: the programs read the files again, so renewed certificates need no
 * restart.
 */
export function componentKubeconfigs(plane: Plane): Rendered[] {
  const cluster = {
    server: `https://${apiServiceHost(plane)}:${plane.port}`,
    'certificate-authority': `${folders.pki}/ca.crt`,
  };
  const user = { 'client-certificate': `${folders.pki}/client.crt`, 'client-key': `${folders.pki}/client.key` };
  const text = JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: plane.name, cluster }],
      users: [{ name: 'component', user }],
      contexts: [{ name: plane.name, context: { cluster: plane.name, user: 'component' } }],
      'current-context': plane.name,
    },
    undefined,
    2,
  );
  const components = [
    'kube-controller-manager',
    'kube-scheduler',
    ...(plane.hasKonnectivity ? [konnectivityContainer] : []),
  ];
  return [
    rendered(ConfigMap, {
      metadata: metadataOf(plane, componentKubeconfigsName(plane)),
      data: Object.fromEntries(components.map((component) => [kubeconfigFile(component), `${text}\n`])),
    }),
  ];
}

const accessArguments = (component: Controller): Record<string, string> => {
  const kubeconfig = `${folders.kubeconfigs}/${kubeconfigFile(component)}`;
  return {
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'bind-address': '0.0.0.0',
    'leader-elect': 'true',
  };
};

/** The arguments that users cannot set. */
export const reservedControllerManagerArguments = (plane: Plane): Record<string, string> => ({
  ...accessArguments('kube-controller-manager'),
  'secure-port': String(ports.controllerManager),
  'client-ca-file': `${folders.pki}/ca.crt`,
  'requestheader-client-ca-file': `${folders.pki}/front-proxy-ca.crt`,
  'cluster-signing-cert-file': `${folders.pki}/signing-ca.crt`,
  'cluster-signing-key-file': `${folders.pki}/signing-ca.key`,
  'root-ca-file': `${folders.pki}/${plane.tenantServingCa === undefined ? 'ca.crt' : rootCaFile}`,
  'service-account-private-key-file': `${folders.pki}/sa.key`,
  'service-cluster-ip-range': plane.network.serviceCidrs.join(','),
  'cluster-cidr': plane.network.podCidrs.join(','),
  'cluster-name': plane.name,
});

export const reservedSchedulerArguments = (): Record<string, string> => ({
  ...accessArguments('kube-scheduler'),
  'secure-port': String(ports.scheduler),
});

export function controllerManager(plane: Plane, files: string): Rendered[] {
  const defaults = {
    'allocate-node-cidrs': 'true',
    controllers: '*,bootstrapsigner,tokencleaner',
    'use-service-account-credentials': 'true',
    profiling: 'false',
  };
  const { ca, serviceAccount } = authorityNames(plane);
  const pki = filesVolume('pki', [
    {
      configMap: bundleName(plane),
      items: {
        'ca.crt': 'ca.crt',
        'front-proxy-ca.crt': 'front-proxy-ca.crt',
        ...(plane.tenantServingCa === undefined ? {} : { [rootCaFile]: rootCaFile }),
      },
    },
    { secret: ca, items: { 'tls.crt': 'signing-ca.crt', 'tls.key': 'signing-ca.key' } },
    { secret: serviceAccount, items: { 'tls.key': 'sa.key' } },
    { secret: certificateNames(plane).controllerManager, items: { 'tls.crt': 'client.crt', 'tls.key': 'client.key' } },
  ]);
  const settings = plane.spec.deployment?.controllerManager;
  const args = argumentsOf(defaults, settings?.args, reservedControllerManagerArguments(plane));
  return controller({
    plane,
    files,
    component: 'kube-controller-manager',
    settings,
    args,
    pki,
    port: ports.controllerManager,
  });
}

export function scheduler(plane: Plane, files: string): Rendered[] {
  const pki = filesVolume('pki', [
    { configMap: bundleName(plane), items: { 'ca.crt': 'ca.crt' } },
    { secret: certificateNames(plane).scheduler, items: { 'tls.crt': 'client.crt', 'tls.key': 'client.key' } },
  ]);
  const settings = plane.spec.deployment?.scheduler;
  const args = argumentsOf({ profiling: 'false' }, settings?.args, reservedSchedulerArguments());
  return controller({ plane, files, component: 'kube-scheduler', settings, args, pki, port: ports.scheduler });
}

interface ControllerParts {
  readonly plane: Plane;
  readonly files: string;
  readonly component: Controller;
  readonly settings: ScalablePodSpec | undefined;
  readonly args: readonly string[];
  readonly pki: Volume;
  readonly port: number;
}

function controller({ plane, files, component, settings, args, pki, port }: ControllerParts): Rendered[] {
  const container = containerOf({
    component,
    image: { repository: component, tag: plane.version.tag },
    settings,
    args,
    ports: { https: port },
    mounts: [mountOf('pki', folders.pki), mountOf('kubeconfigs', folders.kubeconfigs)],
    probes: { scheme: 'HTTPS', port, live: '/healthz', ready: '/healthz' },
  });
  const file = kubeconfigFile(component);
  const kubeconfigs = {
    name: 'kubeconfigs',
    configMap: { name: componentKubeconfigsName(plane), items: [{ key: file, path: file }] },
  };
  const template = podTemplate({
    plane,
    component,
    settings,
    containers: [container],
    volumes: [pki, kubeconfigs],
    files,
  });
  const policy = component === 'kube-scheduler' ? networkPolicies.scheduler : networkPolicies.controllerManager;
  return [
    rendered(Deployment, {
      metadata: metadataOf(plane, workloadName(plane, component), component),
      spec: {
        // As many as API servers, up to two: one leads, and another one takes over.
        replicas: settings?.replicas ?? Math.min(2, plane.spec.replicas ?? 2),
        selector: { matchLabels: selectorOf(plane, component) },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template,
      },
    }),
    disruptionBudget(plane, component),
    policy(plane),
  ];
}
