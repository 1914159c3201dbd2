/** The options that every use of etcd has in common, and the client that they describe. */

import { systemClock, systemRandom, systemTransport } from '@hangar/core';
import type { Clock, Random, Transport } from '@hangar/core';
import { StoreError } from '../../errors.ts';
import { Client } from './client.ts';
import type { PasswordOptions } from './credentials.ts';
import { parseEndpoint } from './grpc/endpoint.ts';
import type { TlsOptions } from './grpc/endpoint.ts';

export interface ConnectionOptions {
  /** `http://host:port` or `https://host:port`, in any order; the port is 2379 when absent. */
  endpoints: readonly string[];
  /** For `https` endpoints. */
  tls?: TlsOptions;
  auth?: PasswordOptions;
  clock?: Clock;
  random?: Random;
  transport?: Transport;
  /** Total time limit of a request, including connecting, fail-over and authentication. */
  requestTimeoutMs?: number;
}

/** Connects at the first call. Throws `InvalidRequest`. */
export function openClient(options: ConnectionOptions): Client {
  if (options.endpoints.length === 0) throw new StoreError('InvalidRequest', 'at least one etcd endpoint is required');
  return new Client({
    endpoints: options.endpoints.map(parseEndpoint),
    tls: options.tls,
    auth: options.auth,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    transport: options.transport ?? systemTransport,
    requestTimeoutMs: options.requestTimeoutMs ?? 5_000,
  });
}
