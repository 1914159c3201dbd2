/** Finds the default cluster in the order of controller-runtime: the given kubeconfig, `KUBECONFIG`, the pod, `~/.kube/config`. */

import { ClientError } from '../errors.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { inClusterConfig, serviceOf } from './in-cluster.ts';
import type { InClusterOptions } from './in-cluster.ts';
import { homeKubeconfig, loadKubeconfig, loadKubeconfigList } from './kubeconfig.ts';
import type { KubeconfigOptions } from './kubeconfig.ts';

/** Options of `defaultConfig`. */
export interface DefaultConfigOptions extends KubeconfigOptions {
  /** Path of `--kubeconfig`. If set, the other locations are ignored. */
  readonly kubeconfig?: string | undefined;
  /** Home folder. Absent: the home folder of the user. */
  readonly homeFolder?: string | undefined;
  /** Location of the files of the pod, for tests. */
  readonly inCluster?: InClusterOptions | undefined;
}

/**
 * Returns the configuration of the default cluster. Rejects with `InvalidKubeconfig` when no location has one.
 *
 *     const client = connect(await defaultConfig({ kubeconfig: process.argv[2] }));
 */
export async function defaultConfig(options: DefaultConfigOptions = {}): Promise<ClusterConfig> {
  const { kubeconfig, env = process.env } = options;
  if (kubeconfig) return loadKubeconfig(kubeconfig, options);
  const list = env['KUBECONFIG'];
  if (list) {
    const config = await loadKubeconfigList(list, options);
    if (config !== undefined) return config;
    throw new ClientError('InvalidKubeconfig', `KUBECONFIG: none of ${list} exists`);
  }
  // Contexts belong to kubeconfigs: with one, the pod is not used.
  if (options.context === undefined && serviceOf(env) !== undefined) {
    return inClusterConfig(env, { clock: options.clock, ...options.inCluster });
  }
  const path = homeKubeconfig(options.homeFolder);
  const config = await loadKubeconfigList(path, options);
  if (config !== undefined) return config;
  throw new ClientError(
    'InvalidKubeconfig',
    `no cluster configured: no kubeconfig was given, KUBECONFIG is not set, the process does not run in a pod, and ${path} does not exist`,
  );
}
