/**
 * Combines a kubeconfig with an object that overrides the server address. The kubeconfig still determines credentials and trust. A writer
 * of the object must not gain access to the Secret: credentials are not sent over a connection with weaker verification than that of the
 * kubeconfig.
 */

import type { ClusterConfig } from '@hangar/client';
import { terminalError } from '../../errors.ts';

/**
 * Returns the configuration with another server address. An address without a path keeps the path of the kubeconfig. Throws a `Terminal`
 * error if the address would weaken the verification of the server.
 */
export function withAddress(config: ClusterConfig, address: string): ClusterConfig {
  const [own, wanted] = [urlOf(config.server), urlOf(address)];
  if (wanted.protocol !== 'https:' && wanted.protocol !== own.protocol) {
    throw terminalError(`the address ${wanted.origin} does not use TLS, but the server of the kubeconfig does`);
  }
  if (wanted.host !== own.host && !knowsItsServer(config)) {
    const whom = config.isInsecure ? 'any certificate' : 'public certificate authorities';
    throw terminalError(`the kubeconfig trusts ${whom}, which is allowed for ${own.host} only, not for ${wanted.host}`);
  }
  const path = wanted.pathname === '/' ? own.pathname : wanted.pathname;
  return { ...config, server: `${wanted.origin}${path.replace(/\/+$/, '')}` };
}

/**
 * Reports whether the config identifies its server at any address: by its own CA or server name. Every host owner can get a certificate
 * from a public CA.
 */
const knowsItsServer = ({ credentials, impersonate, isInsecure, ca, renewedCa, serverName }: ClusterConfig): boolean =>
  (credentials === undefined && impersonate === undefined) ||
  (!isInsecure && (ca !== undefined || renewedCa !== undefined || serverName !== undefined));

/** `host:port` is taken for `https://host:port`. */
function urlOf(address: string): URL {
  const url = URL.parse(address.includes('://') ? address : `https://${address}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.host === '') throw terminalError('the address is not a valid URL');
  if (url.username !== '' || url.password !== '') throw terminalError('the address must not contain credentials');
  return url;
}
