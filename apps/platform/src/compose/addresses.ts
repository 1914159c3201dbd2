/** The addresses that this server advertises. */

import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { PlatformOptions } from '../options/options.ts';

/** The default of kube-apiserver. */
export const serviceCidr = '10.0.0.0/24';
export const serviceAddress = '10.0.0.1';

type Place = Pick<PlatformOptions, 'host'>;

/** A server that listens on all interfaces is reachable on this machine, too. */
export const isAny = ({ host }: Place): boolean => host === '0.0.0.0' || host === '::';

const reachable = (place: Place): string => (isAny(place) ? '127.0.0.1' : place.host);

/** Without a path, and without a trailing slash. */
export function urlOf(place: Place, port: number): string {
  const address = reachable(place);
  return `https://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/**
 * IP address of this server for nodes and pods of control planes. A server that listens on all interfaces uses the first address of the
 * machine that is not a loopback address.
 */
export function nodeAddressOf({ host, advertiseAddress }: Pick<PlatformOptions, 'host' | 'advertiseAddress'>): string {
  if (advertiseAddress !== undefined) return advertiseAddress;
  if (!isAny({ host }) && isIP(host) !== 0) return host;
  const own = Object.values(networkInterfaces())
    .flat()
    .find((one) => one && !one.internal && one.family === 'IPv4');
  return isAny({ host }) && own ? own.address : '127.0.0.1';
}

/** Without the brackets of IPv6 addresses. */
export const hostOfUrl = (url: string): string => new URL(url).hostname.replaceAll(/[[\]]/g, '');

/** Address of this server for clients in the cluster. */
export const endpointOf = (
  options: Pick<PlatformOptions, 'host' | 'advertiseAddress'>,
  port: number,
): { address: string; port: number } => ({ address: options.advertiseAddress ?? reachable(options), port });
