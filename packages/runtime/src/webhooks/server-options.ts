/** What a webhook server is made of. */

import type { Client } from '@hangar/client';
import type { Clock, Logger } from '@hangar/core';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { CertificatePair, Certificates } from './certificates/contract.ts';

export interface WebhookServerOptions {
  /** Absent: 9443. 0: any that is free. */
  readonly port?: number;
  /** Absent: every address of the machine. */
  readonly host?: string;
  /** Needed to listen: a pair that stays, or a source such as `certificateFolder`. */
  readonly certificates?: CertificatePair | Certificates;
  /** PEM: only clients with a certificate of this authority are served. */
  readonly clientCa?: string;
  /** With `clientCa`: only these common names. */
  readonly clientNames?: readonly string[];
  /** For handlers. */
  readonly client?: Client;
  readonly metrics?: MetricsRegistry;
  readonly log?: Logger;
  readonly clock?: Clock;
  /** Absent: `/convert`. */
  readonly conversionPath?: string;
  /**
   * How long it goes on serving after it was told to end and says that it is not ready: until everybody has heard of it. Absent: 0.
   */
  readonly shutdownDelayMs?: number;
  /** How long requests under way may take then. Absent: 30 seconds. */
  readonly shutdownGraceMs?: number;
  /** Of all requests together that are being read or answered. Absent: 256 MiB. */
  readonly bodiesMaxBytes?: number;
  /** Absent: 10,000. */
  readonly connectionsMax?: number;
  /** For the handshake, and for the head of a request. Absent: 10 seconds. */
  readonly headTimeoutMs?: number;
  /** For a request as a whole to come. Absent: 30 seconds. */
  readonly requestTimeoutMs?: number;
}

/** Slow clients do not get to hold a connection. */
export const timeoutsOf = ({ headTimeoutMs = 10_000, requestTimeoutMs = 30_000 }: WebhookServerOptions) => ({
  handshakeTimeout: headTimeoutMs,
  headersTimeout: headTimeoutMs,
  requestTimeout: requestTimeoutMs,
  keepAliveTimeout: 90_000,
  connectionsCheckingInterval: Math.min(1_000, headTimeoutMs),
});
