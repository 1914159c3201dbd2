/**
 * The cluster that a program is about when nobody says more, looked for as controller-runtime does: the kubeconfig that was named,
 * `KUBECONFIG`, the pod that this is, `~/.kube/config`.
 */

import { ClientError } from '../errors.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { inClusterConfig, serviceOf } from './in-cluster.ts';
import type { InClusterOptions } from './in-cluster.ts';
import { homeKubeconfig, loadKubeconfig, loadKubeconfigList } from './kubeconfig.ts';
import type { KubeconfigOptions } from './kubeconfig.ts';

export interface DefaultConfigOptions extends KubeconfigOptions {
  /** Of `--kubeconfig`: then nothing else counts. */
  readonly kubeconfig?: string | undefined;
  /** Absent: this user's. */
  readonly homeFolder?: string | undefined;
  /** Of a pod's files; for tests. */
  readonly inCluster?: InClusterOptions | undefined;
}

export async function defaultConfig(options: DefaultConfigOptions = {}): Promise<ClusterConfig> {
  const { kubeconfig, env = process.env } = options;
  if (kubeconfig) return loadKubeconfig(kubeconfig, options);
  const list = env['KUBECONFIG'];
  if (list) {
    const config = await loadKubeconfigList(list, options);
    if (config !== undefined) return config;
    throw new ClientError('InvalidKubeconfig', `KUBECONFIG: none of ${list} exists`);
  }
  // A context is a kubeconfig's: who names one does not mean the pod.
  if (options.context === undefined && serviceOf(env) !== undefined) {
    return inClusterConfig(env, { clock: options.clock, ...options.inCluster });
  }
  const path = homeKubeconfig(options.homeFolder);
  const config = await loadKubeconfigList(path, options);
  if (config !== undefined) return config;
  throw new ClientError(
    'InvalidKubeconfig',
    `no cluster: no kubeconfig was named, KUBECONFIG is not set, this is no pod, and there is no ${path}`,
  );
}
