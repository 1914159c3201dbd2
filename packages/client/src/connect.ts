/** A client of the cluster that a configuration describes, over sockets. */

import type { Client } from './client.ts';
import type { ClusterConfig } from './config/cluster-config.ts';
import type { RestOptions } from './rest/options.ts';
import { RestClient } from './rest/rest-client.ts';
import { httpTransport } from './transport/http-transport.ts';
import type { HttpTransportOptions } from './transport/http-transport.ts';

export interface ConnectOptions extends RestOptions, HttpTransportOptions {}

/**
 * Throws `InvalidKubeconfig`; nothing is sent before the first call, so an unreachable cluster is found out then. Whoever connects
 * also closes: connections that nobody uses end by themselves after a while, but no sooner.
 *
 *   const client = connect(await defaultConfig());
 *   const pods = await client.list(Pod, { namespace: 'default' });
 */
export const connect = (config: ClusterConfig, options: ConnectOptions = {}): Client =>
  new RestClient(httpTransport(config, options), options);
