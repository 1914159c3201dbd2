/** Opens a connection to a cluster with the kubeconfig in its Secret. */

import { configOfKubeconfig } from '@hangar/client';
import type { ClusterConfig, HttpTransport } from '@hangar/client';
import { asError, orAborted } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { withAddress } from '@hangar/runtime/clusters';
import type { FleetCluster, Kubeconfigs } from '../../contract.ts';
import { EssentialError } from './errors.ts';
import { tenantAt } from './tenant-address.ts';

/** The Secret and the address of a cluster. */
export type Place = Pick<FleetCluster, 'secret' | 'address'>;

export interface Whom {
  readonly cluster: Place;
  /** Expected path of the tenant, where the address contains it. */
  readonly path?: string | undefined;
}

export interface Connection {
  readonly config: ClusterConfig;
  readonly transport: HttpTransport;
  /** The kubeconfig that it was opened with. */
  readonly kubeconfig: string;
}

export interface OpenOptions {
  readonly kubeconfigs: Pick<Kubeconfigs, 'read'>;
  readonly clock: Clock;
  /** Opens no socket before the first request. */
  readonly connect: (config: ClusterConfig) => HttpTransport;
}

const readTimeoutMs = 10_000;

/** Rejects with an `EssentialError`. */
export async function openConnection({ cluster, path }: Whom, options: OpenOptions): Promise<Connection> {
  const { secret, address } = cluster;
  if (!secret) throw new EssentialError('KubeconfigPending', 'waiting for the reference to the kubeconfig Secret');
  const source = `Secret "${secret.namespace}/${secret.name}"`;
  const late = new AbortController();
  const timer = options.clock.after(readTimeoutMs, () => late.abort());
  let kubeconfig: string | undefined;
  try {
    kubeconfig = await orAborted(options.kubeconfigs.read(secret, late.signal), late.signal);
  } catch (cause) {
    const why = late.signal.aborted ? 'the management plane does not answer' : asError(cause).message;
    throw new EssentialError('KubeconfigUnreadable', `${source} cannot be read: ${why}`, { cause });
  } finally {
    timer.cancel();
  }
  if (kubeconfig === undefined) throw new EssentialError('KubeconfigPending', `${source} has no kubeconfig`);
  const config = await configOf(kubeconfig, source, address);
  const at = tenantAt(config.server);
  if (path !== undefined && at !== undefined && at !== path) {
    throw new EssentialError('AddressInvalid', `${source} is for control plane "${at}", but its Tenant is "${path}"`);
  }
  return { config, kubeconfig, transport: options.connect(config) };
}

/** The writer of the Secret is not trusted with this machine: files and programs are refused. */
async function configOf(kubeconfig: string, source: string, address: string | undefined): Promise<ClusterConfig> {
  let config: ClusterConfig;
  try {
    config = await configOfKubeconfig(kubeconfig, { source });
  } catch (cause) {
    throw new EssentialError('KubeconfigInvalid', asError(cause).message, { cause });
  }
  try {
    return address === undefined ? config : withAddress(config, address);
  } catch (cause) {
    throw new EssentialError('AddressInvalid', asError(cause).message, { cause });
  }
}
