/**
 * Clusters with a kubeconfig in a Secret. Writers of the Secret are not trusted: credential plugins and file references in the kubeconfig
 * are refused. An unusable kubeconfig is discovered too, and fails to open until it changes, so that users see the error.
 */

import { createHash } from 'node:crypto';
import { configOfKubeconfig } from '@hangar/client';
import type { ClusterConfig, ForeignKubeconfigOptions } from '@hangar/client';
import { asError } from '@hangar/core';
import { terminalError } from '../../errors.ts';
import type { DiscoveredCluster } from '../contract.ts';
import type { Found } from './announcements.ts';
import type { SecretObject } from './kinds.ts';
import { discoveredByConfig } from './open-cluster.ts';
import type { ClusterOptions } from './open-cluster.ts';

export interface KubeconfigCluster extends Pick<DiscoveredCluster, 'name' | 'labels'> {
  /** uid of the object that represents the cluster. */
  readonly identity: string;
  readonly kubeconfig: string;
  /** For messages. */
  readonly source: string;
  /** Throws when the config cannot be used. */
  readonly adjust?: (config: ClusterConfig) => ClusterConfig;
  /** Absent: none. */
  readonly trust?: Pick<ForeignKubeconfigOptions, 'allowExec' | 'allowFiles' | 'baseFolder' | 'context'>;
}

/** Never rejects. */
export async function foundByKubeconfig(given: KubeconfigCluster, options: ClusterOptions): Promise<Found> {
  const { name, labels = {}, kubeconfig, identity, source, trust, adjust } = given;
  try {
    const config = await configOfKubeconfig(kubeconfig, { source, ...trust });
    return { identity, cluster: discoveredByConfig({ name, labels, config: adjust?.(config) ?? config }, options) };
  } catch (error) {
    return { identity, cluster: unusable(given, asError(error)) };
  }
}

function unusable({ name, labels = {}, kubeconfig }: KubeconfigCluster, cause: Error): DiscoveredCluster {
  const hash = createHash('sha256').update(kubeconfig).digest('hex');
  return {
    name,
    labels,
    fingerprint: `unusable ${hash} ${cause.message}`,
    open: () => Promise.reject(terminalError(`the kubeconfig of cluster "${name}" cannot be used`, cause)),
  };
}

/** Returns undefined if the Secret has no kubeconfig. */
export function kubeconfigIn(secret: SecretObject | undefined, key: string): string | undefined {
  const encoded = secret?.data?.[key];
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString() : undefined;
}

/** Transform for informers of Secrets: keeps only the kubeconfig, and ignores Secrets without one. */
export const onlyKubeconfig =
  (key: string) =>
  (secret: SecretObject): SecretObject | undefined => {
    const value = secret.data?.[key];
    if (value === undefined) return undefined;
    const { name, namespace, uid, resourceVersion, labels } = secret.metadata;
    const metadata = { name, namespace, uid, resourceVersion, labels };
    return { apiVersion: 'v1', kind: 'Secret', metadata, data: { [key]: value } } as SecretObject;
  };

export const secretText = ({ metadata }: SecretObject): string => `Secret ${metadata.namespace}/${metadata.name}`;
