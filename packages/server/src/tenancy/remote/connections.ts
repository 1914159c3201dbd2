/**
 * Connections to the API server of a tenant. Those with the certificate of the front proxy and those without are separate, so that a token
 * is never sent with that certificate. The platform configured the address, so any address is allowed.
 */

import type { ClientRequest } from 'node:http';
import { ConnectionPool } from '../../aggregation/connection-pool.ts';
import type { RemoteRequest, Target, Upstream } from '../../aggregation/connection-pool.ts';
import type { KeyPair } from '../../aggregation/remote-server.ts';
import type { Outbound } from '../../outbound/index.ts';
import type { RemoteApiServer } from '../identity.ts';

export interface RemoteConnectionsOptions {
  readonly remote: RemoteApiServer;
  readonly outbound: Outbound;
  /** Called for every connection, because the certificate is renewed. */
  readonly clientCertificate: () => KeyPair;
}

export interface UpstreamOptions {
  /** The request names its user, as that of a front proxy. */
  readonly withUser: boolean;
  /** Aborts the request before its response. */
  readonly signal: AbortSignal;
}

const connectTimeoutMs = 5_000;

export class RemoteConnections {
  readonly #options: RemoteConnectionsOptions;
  readonly #target: Target;
  readonly #ofUsers: ConnectionPool;
  readonly #plain: ConnectionPool;

  constructor(options: RemoteConnectionsOptions) {
    this.#options = options;
    const { hostname, port } = new URL(options.remote.server);
    this.#target = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || 443 };
    this.#ofUsers = new ConnectionPool((target) => this.#connect(target, options.clientCertificate()));
    this.#plain = new ConnectionPool((target) => this.#connect(target));
  }

  upstream({ withUser, signal }: UpstreamOptions): Upstream {
    const pool = withUser ? this.#ofUsers : this.#plain;
    return {
      begin: async (request: RemoteRequest): Promise<ClientRequest> => {
        const outgoing = pool.begin(request, this.#target);
        const onAbort = (): void => void outgoing.destroy(new Error('the control plane is being migrated'));
        signal.addEventListener('abort', onAbort, { once: true });
        outgoing.once('response', () => signal.removeEventListener('abort', onAbort));
        outgoing.once('upgrade', () => signal.removeEventListener('abort', onAbort));
        return outgoing;
      },
    };
  }

  close(): void {
    this.#ofUsers.close();
    this.#plain.close();
  }

  #connect({ host, port }: Target, clientCertificate?: KeyPair) {
    const { remote, outbound } = this.#options;
    const destination = { host, port, ca: remote.ca, serverName: remote.serverName, clientCertificate };
    return outbound.open(destination, { timeoutMs: connectTimeoutMs, isTrusted: true });
  }
}
