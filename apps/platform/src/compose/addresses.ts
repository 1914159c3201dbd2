/** Where this server is reached, as it tells others. */

import type { PlatformOptions } from '../options/options.ts';

/** As kube-apiserver's own defaults. */
export const serviceCidr = '10.0.0.0/24';
export const serviceAddress = '10.0.0.1';

type Place = Pick<PlatformOptions, 'host'>;

/** Whoever listens everywhere is reached on this machine, too. */
export const isAny = ({ host }: Place): boolean => host === '0.0.0.0' || host === '::';

const reachable = (place: Place): string => (isAny(place) ? '127.0.0.1' : place.host);

/** Without a path, and without a slash at its end. */
export function urlOf(place: Place, port: number): string {
  const address = reachable(place);
  return `https://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** Where clients in the cluster find this server. */
export const endpointOf = (
  options: Pick<PlatformOptions, 'host' | 'advertiseAddress'>,
  port: number,
): { address: string; port: number } => ({ address: options.advertiseAddress ?? reachable(options), port });
