/** The addresses that this server advertises. */

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

/** Address of this server for clients in the cluster. */
export const endpointOf = (
  options: Pick<PlatformOptions, 'host' | 'advertiseAddress'>,
  port: number,
): { address: string; port: number } => ({ address: options.advertiseAddress ?? reachable(options), port });
