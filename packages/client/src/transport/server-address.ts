/** Where a cluster's requests go: `https://host:6443/clusters/x/control-plane`, taken apart. */

import { ClientError } from '../errors.ts';
import { shownAddress } from '../shown-address.ts';

export interface ServerAddress {
  readonly isSecure: boolean;
  /** An IPv6 address is without its brackets. */
  readonly host: string;
  readonly port: number;
  /** As in `Host`. */
  readonly authority: string;
  /** What every path begins with; '' or `/…` without a slash at its end. */
  readonly prefix: string;
}

/** Throws `InvalidKubeconfig`. */
export function serverAddress(server: string): ServerAddress {
  const url = URL.parse(server.includes('://') ? server : `https://${server}`);
  if (url === null) {
    throw new ClientError('InvalidKubeconfig', `${shownAddress(server)} is not a valid server URL`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ClientError('InvalidKubeconfig', `${shownAddress(server)}must start with http:// or https://`);
  }
  const isSecure = url.protocol === 'https:';
  return {
    isSecure,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    authority: url.host,
    prefix: url.pathname.replace(/\/+$/, ''),
  };
}
