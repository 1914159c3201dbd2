/** Parses the address of a cluster: `https://host:6443/clusters/x/control-plane`. */

import { ClientError } from '../errors.ts';
import { shownAddress } from '../shown-address.ts';

export interface ServerAddress {
  readonly isSecure: boolean;
  /** IPv6 addresses have no brackets. */
  readonly host: string;
  readonly port: number;
  /** Value of the `Host` header. */
  readonly authority: string;
  /** Prefix of every path; '' or `/…` without a trailing slash. */
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
