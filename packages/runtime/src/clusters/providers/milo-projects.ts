/**
 * Provider of the control planes of Milo projects. A cluster has the name of its project.
 *
 *   mode       follows               gate                address
 *   external   Project               Ready               below the path of the project at the management cluster's own address
 *   internal   ProjectControlPlane   ControlPlaneReady   the service of the project's own API server
 */

import { defineKind } from '@hangar/client';
import type { ClusterConfig, Kind } from '@hangar/client';
import type { ClusterName } from '../../cluster.ts';
import { RuntimeError, terminalError } from '../../errors.ts';
import type { DiscoveredCluster, Provider } from '../contract.ts';
import { informedProvider } from './informed.ts';
import type { ManagementOptions } from './informed.ts';
import { conditionOf } from './kinds.ts';
import type { WithConditions } from './kinds.ts';
import { discoveredByConfig, openCluster } from './open-cluster.ts';
import type { ClusterOptions } from './open-cluster.ts';
import { pathClient } from './path-client.ts';

export interface MiloProjectsOptions extends ManagementOptions {
  /** Access to the control planes of projects. Absent: external ones are accessed through the connections of the management client. */
  readonly projectRestConfig?: ClusterConfig;
  /** Accesses projects inside the cluster that runs them. Requires `projectRestConfig`. */
  readonly internalServiceDiscovery?: boolean;
  /** Address of the API server of a project inside that cluster; `{name}` is the name of the project. Absent: as in Milo. */
  readonly internalServiceTemplate?: string;
  readonly labelSelector?: string;
  readonly clusterOptions?: ClusterOptions;
}

const Project = defineKind<WithConditions>({
  apiVersion: 'resourcemanager.miloapis.com/v1alpha1',
  kind: 'Project',
  plural: 'projects',
  isNamespaced: false,
});

const ProjectControlPlane = defineKind<WithConditions>({
  apiVersion: 'infrastructure.miloapis.com/v1alpha1',
  kind: 'ProjectControlPlane',
  plural: 'projectcontrolplanes',
  isNamespaced: true,
});

const projectPath = (name: string): string =>
  `/apis/resourcemanager.miloapis.com/v1alpha1/projects/${name}/control-plane`;
const placeholder = '{name}';
const defaultServiceTemplate = `https://milo-apiserver.project-${placeholder}.svc.cluster.local:6443`;

/** Returns a provider of the projects of Milo. Throws `InvalidOptions`. */
export function miloProjects(options: MiloProjectsOptions): Provider {
  const { projectRestConfig: config, internalServiceDiscovery: isInternal = false, labelSelector } = options;
  if (isInternal && !config)
    throw new RuntimeError('InvalidOptions', 'projectRestConfig is required when internalServiceDiscovery is true');
  if (!(options.internalServiceTemplate ?? defaultServiceTemplate).includes(placeholder))
    throw new RuntimeError('InvalidOptions', `internalServiceTemplate must contain ${placeholder}`);
  const kind: Kind<WithConditions> = isInternal ? ProjectControlPlane : Project;
  const condition = isInternal ? 'ControlPlaneReady' : 'Ready';
  return informedProvider('milo-projects', options, ({ cache, announcements, follow }) => {
    const projects = cache.informer(kind, labelSelector ? { labelSelector } : {});
    follow(projects, ({ metadata: { namespace, name = '' } }) => {
      const project = projects.get({ namespace, name });
      if (!project || conditionOf(project.status?.conditions, condition) !== 'True') {
        return announcements.tell(name, undefined);
      }
      const { labels = {}, uid = '' } = project.metadata;
      announcements.tell(name, { identity: uid, cluster: discoveredProject(name, labels, options) });
    });
  });
}

function discoveredProject(
  name: ClusterName,
  labels: Record<string, string>,
  options: MiloProjectsOptions,
): DiscoveredCluster {
  const { projectRestConfig: config, internalServiceDiscovery, management, clusterOptions = {} } = options;
  if (config && internalServiceDiscovery && !isLabel(name)) return misnamed(name, labels);
  if (config) {
    const base = config.server.replace(/\/+$/, '');
    const { internalServiceTemplate: template = defaultServiceTemplate } = options;
    const server = internalServiceDiscovery ? template.replaceAll(placeholder, name) : `${base}${projectPath(name)}`;
    return discoveredByConfig({ name, labels, config: { ...config, server } }, clusterOptions);
  }
  const path = projectPath(name);
  const open = (signal: AbortSignal) => openCluster(name, () => pathClient(management, path), clusterOptions, signal);
  return { name, labels, fingerprint: path, open };
}

/** A DNS label (RFC 1123): a name with a dot would resolve to a namespace of another project. */
const isLabel = (name: string): boolean => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name);

const misnamed = (name: ClusterName, labels: Record<string, string>): DiscoveredCluster => ({
  name,
  labels,
  fingerprint: 'misnamed',
  open: () => Promise.reject(terminalError(`project "${name}" has no address: its name is not a DNS label`)),
});
