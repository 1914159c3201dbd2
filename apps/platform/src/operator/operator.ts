/** `hangar operator`: runs the operator of control planes alone, against any Kubernetes and a separate Hangar. */

import { connect, defaultConfig, loadKubeconfig } from '@hangar/client';
import type { ClusterConfig } from '@hangar/client';
import { controlPlaneOperator, installDefinitions, kubeconfigHost } from '@hangar/controlplane-operator';
import { signals } from '@hangar/runtime';
import { UsageError } from '@hangar/core/command-line';
import { openLog } from '../logging.ts';
import { versionText } from '../version.ts';
import { operatorHelp, readOperatorOptions } from './options.ts';
import type { OperatorOptions } from './options.ts';

const userAgent = 'hangar-operator';
const leaseName = 'hangar-operator';

/** Runs until the process is terminated. */
export async function operator(args: readonly string[]): Promise<void> {
  const options = readOperatorOptions(args, process.env);
  if (options === 'help') return console.log(operatorHelp);
  if (options === 'version') return console.log(versionText);
  const log = openLog(options.logging, process.stderr.isTTY);
  const { management, tenants } = await configsOf(options);
  const managementClient = connect(management, { userAgent });
  const host = kubeconfigHost({
    config: tenants,
    internalUrl: options.internalUrl,
    externalUrl: options.externalUrl,
    userAgent,
  });
  const stopping = signals();
  try {
    if (options.installsDefinitions) await installDefinitions(managementClient, { signal: stopping });
    const manager = controlPlaneOperator({
      management: managementClient,
      host,
      log,
      metrics: options.metrics,
      ...(options.health === undefined ? {} : { health: options.health }),
      ...(options.electsLeader
        ? {
            leaderElection: {
              namespace: options.leaseNamespace ?? management.namespace ?? 'kube-system',
              name: leaseName,
            },
          }
        : {}),
    });
    await manager.run(stopping);
  } catch (error) {
    if (!stopping.aborted) log.error('the operator is shutting down', { error: error as Error });
    process.exitCode = stopping.aborted ? 0 : 1;
  } finally {
    await Promise.all([managementClient.close(), host.client.close()]);
  }
}

/** Throws a UsageError for an unusable kubeconfig. */
async function configsOf({ kubeconfig, tenantsKubeconfig }: OperatorOptions): Promise<{
  readonly management: ClusterConfig;
  readonly tenants: ClusterConfig;
}> {
  const management = await usable('kubeconfig', () => defaultConfig({ kubeconfig }));
  const tenants =
    tenantsKubeconfig === undefined
      ? management
      : await usable('tenants-kubeconfig', () => loadKubeconfig(tenantsKubeconfig));
  return { management, tenants };
}

async function usable<T>(flag: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new UsageError(`--${flag}: ${(error as Error).message}`, { cause: error });
  }
}
