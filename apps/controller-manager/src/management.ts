/** Connects to the management plane, and to the Hangar whose tenants the essential engine serves. */

import { connect, defaultConfig, loadKubeconfig } from '@hangar/client';
import type { Client, ClusterConfig } from '@hangar/client';
import type { Clock, Random } from '@hangar/core';
import { UsageError } from '@hangar/core/command-line';

export const userAgent = 'hangar-controller-manager';

export interface ManagementOptions {
  /** Undefined: the default of kubectl and pods. */
  readonly kubeconfig: string | undefined;
  /** Undefined: the management plane is that Hangar. */
  readonly feedKubeconfig: string | undefined;
}

export interface Management {
  readonly client: Client;
  /** A separate connection: a renewal does not wait for a list of a thousand clusters. */
  readonly leases: Client;
  readonly feed: ClusterConfig;
  close(): Promise<void>;
}

/** Rejects with a UsageError for an unusable kubeconfig. Sends no request yet. */
export async function connectManagement(
  { kubeconfig, feedKubeconfig }: ManagementOptions,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<Management> {
  const config = await usable('kubeconfig', () => defaultConfig({ kubeconfig }));
  const feed =
    feedKubeconfig === undefined ? config : await usable('feed-kubeconfig', () => loadKubeconfig(feedKubeconfig));
  const connected = (): Client => connect(config, { userAgent, clock, random });
  const [client, leases] = [connected(), connected()];
  return {
    client,
    leases,
    feed,
    async close() {
      await Promise.all([client.close(), leases.close()]);
    },
  };
}

async function usable<T>(flag: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new UsageError(`--${flag}: ${(error as Error).message}`, { cause: error });
  }
}
