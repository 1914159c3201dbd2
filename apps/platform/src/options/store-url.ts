/**
 * etcd as one word: `etcd://a:2379,b:2379`. The scheme of the first counts for those that have none.
 *
 *     etcd://  http://     in the clear
 *     etcds:// https://    over TLS
 */

import { UsageError } from '@hangar/core/command-line';

const schemes: Readonly<Record<string, string>> = { etcd: 'http', http: 'http', etcds: 'https', https: 'https' };
const defaultPort = '2379';

export const isEndpoints = (text: string): boolean => text.includes('://');

/** URLs as the driver takes them. Throws a UsageError. */
export function endpointsOf(text: string): string[] {
  let scheme: string | undefined;
  return text.split(',').map((one) => {
    const [, named, place = ''] = /^(?:([a-z]+):\/\/)?([^/]*)\/?$/.exec(one.trim()) ?? [];
    scheme = named ?? scheme;
    const protocol = scheme !== undefined && Object.hasOwn(schemes, scheme) ? schemes[scheme]! : undefined;
    // Names of users are no part of an address: etcd knows clients by their certificates.
    const url =
      protocol === undefined || place === '' || place.includes('@') ? null : URL.parse(`${protocol}://${place}`);
    if (!url || url.search !== '' || url.hash !== '') {
      throw new UsageError(`--store: "${one}" is not etcd://HOST:PORT or etcds://HOST:PORT`);
    }
    return `${protocol}://${url.hostname}:${portOf(place)}`;
  });
}

/** URL leaves out a port that is its scheme's own. */
const portOf = (place: string): string => /:(\d+)$/.exec(place)?.[1] ?? defaultPort;
