/** Ports of control planes with nodes: their range, and the addresses in their certificates. */

import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { systemClock, systemRandom } from '@hangar/core';
import { PlanePorts, ServerAddresses, soleAddress } from '@hangar/server';
import type { AdvertisedAddresses, Listener, PortRange } from '@hangar/server';
import type { PlatformOptions } from '../options/options.ts';
import { hostOfUrl, nodeAddressOf, serviceAddress, serviceCidr } from './addresses.ts';
import type { ControlPlanes } from './control-planes.ts';
import { storePrefix } from './foundation.ts';
import type { Foundation } from './foundation.ts';

/** Undefined: control planes with nodes get no port. */
export function planePortsOf(options: PlatformOptions): PortRange | undefined {
  const { planePorts, host } = options;
  return (
    planePorts && {
      ...planePorts,
      isFree: (port) => canListen(host, port),
      url: (port) => `https://${urlHost(joinHostOf(options))}:${port}`,
      serviceCidr,
    }
  );
}

/** Addresses in the service `kubernetes` of control planes with nodes: of this server, or of all servers that share the store. */
export async function openAddresses(
  { options, store, log }: Pick<Foundation, 'options' | 'store' | 'log'>,
  opened: AsyncDisposableStack,
): Promise<AdvertisedAddresses> {
  const address = nodeAddressOf(options);
  if (options.store.type !== 'etcd' || !options.planePorts) return soleAddress(serviceAddress, address);
  const addresses = new ServerAddresses({
    store,
    storePrefix,
    clock: systemClock,
    random: systemRandom,
    serviceAddress,
    address,
    onError: (error) => log.error('the address of this server cannot be published', { error }),
  });
  opened.defer(() => addresses.close());
  await addresses.start();
  return addresses;
}

/** Opens the ports of the stored control planes, and follows changes. The caller closes it. */
export function openPlanePorts(
  { options, store, log }: Pick<Foundation, 'options' | 'store' | 'log'>,
  { tenancy, ports }: Pick<ControlPlanes, 'tenancy' | 'ports'>,
  listener: Listener,
): PlanePorts | undefined {
  if (!ports) return undefined;
  const hosts = [nodeAddressOf(options), joinHostOf(options), ...options.hosts, hostname(), serviceAddress];
  return new PlanePorts({
    tenants: tenancy.tenants,
    ports,
    listener,
    store,
    storePrefix,
    clock: systemClock,
    random: systemRandom,
    hosts: () => hosts,
    onError: (error) => log.error('a port for nodes cannot be opened', { error }),
  });
}

/** Host that nodes connect to: the same for all replicas where they have a common URL. */
const joinHostOf = (options: PlatformOptions): string =>
  options.externalUrl === undefined ? nodeAddressOf(options) : hostOfUrl(options.externalUrl);

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
