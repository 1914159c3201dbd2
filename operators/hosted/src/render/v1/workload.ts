/** Parts of pods that all components have: labels, images, arguments, security, spreading over nodes, disruption budgets. */

import { PodDisruptionBudget } from '@hangar/client/kinds/policy-v1';
import type { Container, PodSpec, PodTemplateSpec, Probe, Volume, VolumeMount } from '@hangar/client/kinds/core-v1';
import type { ContainerSpec, ImageSpec, PodSpec as PodSettings } from '../../api/index.ts';
import { annotations, clusterNameLabel } from '../../api/index.ts';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import { workloadName } from '../names.ts';
import type { Component } from '../names.ts';
import type { Plane } from '../plane.ts';
import { registry, resources, userId } from './defaults.ts';

export { argumentsOf } from '@hangar/node-objects';

export const componentLabel = 'app.kubernetes.io/component';

/** Labels that select the pods of a component. */
export const selectorOf = ({ name }: Pick<Plane, 'name'>, component: Component): Record<string, string> => ({
  [clusterNameLabel]: name,
  [componentLabel]: component,
});

export const labelsOf = (plane: Pick<Plane, 'name'>, component?: Component): Record<string, string> => ({
  [clusterNameLabel]: plane.name,
  ...(component === undefined ? {} : { [componentLabel]: component }),
  'app.kubernetes.io/managed-by': 'hangar',
});

export const metadataOf = (
  { name: cluster, namespace, owner }: Pick<Plane, 'name' | 'namespace' | 'owner'>,
  name: string,
  component?: Component,
) => ({ namespace, name, labels: labelsOf({ name: cluster }, component), ownerReferences: [owner] });

/** `registry/repository:tag`, or `registry/repository@digest`. */
export function imageOf(
  set: ImageSpec | undefined,
  defaults: { repository: string; tag: string; registry?: string },
): string {
  const {
    registry: host = defaults.registry ?? registry,
    repository = defaults.repository,
    tag = defaults.tag,
  } = set ?? {};
  return `${host}/${repository}${tag.includes(':') ? '@' : ':'}${tag}`;
}

export interface ContainerOptions {
  readonly component: Component;
  readonly image: { readonly repository: string; readonly tag: string };
  readonly settings: ContainerSpec | undefined;
  readonly args: readonly string[];
  readonly ports: Readonly<Record<string, number>>;
  readonly mounts: readonly VolumeMount[];
  readonly probes: {
    readonly scheme: 'HTTP' | 'HTTPS';
    readonly port: number;
    readonly live: string;
    readonly ready: string;
  };
  readonly env?: Container['env'];
}

export function containerOf(options: ContainerOptions): Container {
  const { component, image, settings, args, ports, mounts, probes, env } = options;
  const { scheme, port } = probes;
  const probe = (path: string, numbers: Partial<Probe>): Probe => ({ httpGet: { scheme, port, path }, ...numbers });
  return {
    name: component,
    image: imageOf(settings?.image, image),
    imagePullPolicy: settings?.imagePullPolicy ?? 'IfNotPresent',
    command: [component],
    args: [...args],
    ...(env ? { env } : {}),
    ports: Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort, protocol: 'TCP' as const })),
    resources: (settings?.resources ?? resources[component]) as NonNullable<Container['resources']>,
    volumeMounts: [...mounts],
    startupProbe: probe(probes.live, { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 300 }),
    livenessProbe: probe(probes.live, { periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 }),
    readinessProbe: probe(probes.ready, { periodSeconds: 1, timeoutSeconds: 15, failureThreshold: 3 }),
    // The status of a crash has the last lines of the log, which conditions report.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: containerSecurity,
  };
}

export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

export interface PodOptions {
  readonly plane: Plane;
  readonly component: Component;
  readonly settings: Pick<PodSettings, 'priorityClassName'> | undefined;
  readonly containers: Container[];
  readonly initContainers?: Container[];
  readonly volumes: Volume[];
  readonly files: string;
  readonly terminationGracePeriodSeconds?: number;
}

export function podTemplate(options: PodOptions): PodTemplateSpec {
  const { plane, component, settings, containers, initContainers = [], volumes, files } = options;
  const { terminationGracePeriodSeconds = 30 } = options;
  const matchLabels = selectorOf(plane, component);
  const spec: PodSpec = {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds,
    ...(settings?.priorityClassName ? { priorityClassName: settings.priorityClassName } : {}),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: userId,
      runAsGroup: userId,
      fsGroup: userId,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, podAffinityTerm: { labelSelector: { matchLabels }, topologyKey: 'kubernetes.io/hostname' } },
        ],
      },
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels },
      },
    ],
    ...(initContainers.length > 0 ? { initContainers } : {}),
    containers,
    volumes,
  };
  return { metadata: { labels: labelsOf(plane, component), annotations: { [annotations.files]: files } }, spec };
}

/** At most one pod of a component is evicted at a time. */
export const disruptionBudget = (plane: Plane, component: Component): Rendered =>
  rendered(PodDisruptionBudget, {
    metadata: metadataOf(plane, workloadName(plane, component), component),
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(plane, component) } },
  });

/** A folder of certificates: keys of Secrets and of the bundle as files. */
export interface Files {
  readonly secret?: string;
  readonly configMap?: string;
  /** Key → path of the file. */
  readonly items: Readonly<Record<string, string>>;
}

export const filesVolume = (name: string, sources: readonly Files[]): Volume => ({
  name,
  projected: {
    defaultMode: 0o440,
    sources: sources.map(({ secret, configMap, items }) => {
      const paths = Object.entries(items).map(([key, path]) => ({ key, path }));
      return secret === undefined
        ? { configMap: { name: configMap!, items: paths } }
        : { secret: { name: secret, items: paths } };
    }),
  },
});

/** Name of a kubeconfig in its ConfigMap. */
export const kubeconfigFile = (component: string): string => `${component}.conf`;

export const mountOf = (name: string, mountPath: string): VolumeMount => ({ name, mountPath, readOnly: true });
