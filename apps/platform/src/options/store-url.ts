/**
 * Parses etcd endpoints: `etcd://a:2379,b:2379`. The scheme of the first applies to those without one.
 *
 *     etcd://  http://     in the clear
 *     etcds:// https://    over TLS
 */

import { UsageError } from '@hangar/core/command-line';

const schemes: Readonly<Record<string, string>> = { etcd: 'http', http: 'http', etcds: 'https', https: 'https' };
const defaultPort = '2379';

export const isEndpoints = (text: string): boolean => text.includes('://');

/** Returns URLs for the driver. Throws a UsageError. */
export function endpointsOf(text: string): string[] {
  let scheme: string | undefined;
  return text.split(',').map((one) => {
    const [, named, place = ''] = /^(?:([a-z]+):\/\/)?([^/]*)\/?$/.exec(one.trim()) ?? [];
    scheme = named ?? scheme;
    const protocol = scheme !== undefined && Object.hasOwn(schemes, scheme) ? schemes[scheme]! : undefined;
    // User names are not allowed in an address: etcd authenticates clients by their certificates.
    const url =
      protocol === undefined || place === '' || place.includes('@') ? null : URL.parse(`${protocol}://${place}`);
    if (!url || url.search !== '' || url.hash !== '') {
      throw new UsageError(`--store: "${one}" is not etcd://HOST:PORT or etcds://HOST:PORT`);
    }
    return `${protocol}://${url.hostname}:${portOf(place)}`;
  });
}

/** `URL` leaves out the default port of its scheme. */
const portOf = (place: string): string => /:(\d+)$/.exec(place)?.[1] ?? defaultPort;
