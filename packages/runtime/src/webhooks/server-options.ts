/** Options of webhook servers. */

import type { Client } from '@hangar/client';
import type { Clock, Logger } from '@hangar/core';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { CertificatePair, Certificates } from './certificates/contract.ts';

/** Options of `WebhookServer`. */
export interface WebhookServerOptions {
  /** Absent: 9443. 0: any free port. */
  readonly port?: number;
  /** Absent: all addresses. */
  readonly host?: string;
  /** Serving certificate: a fixed pair, or a source such as `certificateFolder`. Required to listen. */
  readonly certificates?: CertificatePair | Certificates;
  /** Accepts only clients with a certificate of this authority, in PEM. */
  readonly clientCa?: string;
  /** With `clientCa`: accepts only these common names. */
  readonly clientNames?: readonly string[];
  /** Client for the handlers. */
  readonly client?: Client;
  readonly metrics?: MetricsRegistry;
  readonly log?: Logger;
  readonly clock?: Clock;
  /** Absent: `/convert`. */
  readonly conversionPath?: string;
  /** Time that the server continues to serve after it reports that it is not ready, so that clients can switch. Absent: 0. */
  readonly shutdownDelayMs?: number;
  /** Maximum time for running requests during the shutdown. Absent: 30 s. */
  readonly shutdownGraceMs?: number;
  /** Maximum size of all requests that are being processed. Absent: 256 MiB. */
  readonly bodiesMaxBytes?: number;
  /** Maximum number of connections. Absent: 10,000. */
  readonly connectionsMax?: number;
  /** Timeout of the TLS handshake and of request headers. Absent: 10 s. */
  readonly headTimeoutMs?: number;
  /** Timeout for receiving a complete request. Absent: 30 s. */
  readonly requestTimeoutMs?: number;
}

/** Prevents that slow clients hold a connection. */
export const timeoutsOf = ({ headTimeoutMs = 10_000, requestTimeoutMs = 30_000 }: WebhookServerOptions) => ({
  handshakeTimeout: headTimeoutMs,
  headersTimeout: headTimeoutMs,
  requestTimeout: requestTimeoutMs,
  keepAliveTimeout: 90_000,
  connectionsCheckingInterval: Math.min(1_000, headTimeoutMs),
});
