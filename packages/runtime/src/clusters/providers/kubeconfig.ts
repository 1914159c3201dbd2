/**
 * Clusters whose kubeconfig is in a secret. Whoever may write the secret is not trusted with this process: plugins and files that a
 * kubeconfig names are refused. One that cannot be used is discovered all the same, and cannot be opened until it changes, so
 * that people see what is wrong with it.
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
  /** Of the object that stands for it. */
  readonly identity: string;
  readonly kubeconfig: string;
  /** For messages. */
  readonly source: string;
  /** Throws when what it is given is of no use. */
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

/** Undefined: it has none. */
export function kubeconfigIn(secret: SecretObject | undefined, key: string): string | undefined {
  const encoded = secret?.data?.[key];
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString() : undefined;
}

/** For informers of secrets: keeps the kubeconfig and nothing else; secrets without one are not kept at all. */
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
