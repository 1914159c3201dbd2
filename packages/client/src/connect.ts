/** Connects a client to a cluster over sockets. */

import type { Client } from './client.ts';
import type { ClusterConfig } from './config/cluster-config.ts';
import type { RestOptions } from './rest/options.ts';
import { RestClient } from './rest/rest-client.ts';
import { httpTransport } from './transport/http-transport.ts';
import type { HttpTransportOptions } from './transport/http-transport.ts';

/** Options of `connect`: those of the requests (`RestOptions`) and those of the connections (`HttpTransportOptions`). */
export interface ConnectOptions extends RestOptions, HttpTransportOptions {}

/**
 * Returns a client for the cluster of a configuration. Throws `InvalidKubeconfig` for a configuration that cannot be used. The client
 * connects with its first call, so that call reports an unreachable cluster. The caller must close the client; unused connections are
 * closed after `idleMs` in any case.
 *
 *     const client = connect(await defaultConfig());
 *     const pods = await client.list(Pod, { namespace: 'default' });
 */
export const connect = (config: ClusterConfig, options: ConnectOptions = {}): Client =>
  new RestClient(httpTransport(config, options), options);
