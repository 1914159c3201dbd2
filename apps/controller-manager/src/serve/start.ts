/** Composes the HTTPS status server. */

import { systemRandom } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import type { ClusterRow } from '../contract.ts';
import { isLoopback, urlOf } from './addresses.ts';
import { BearerToken } from './bearer-token.ts';
import { servingCertificates } from './certificates/serving.ts';
import type { CertificateOptions } from './certificates/serving.ts';
import { Health } from './health.ts';
import { loopbackScrape } from './metrics/scrape.ts';
import type { Scrape } from './metrics/scrape.ts';
import { Scraper } from './metrics/scraper.ts';
import { Routes } from './routes.ts';
import { HttpsServer } from './server.ts';

export interface ServingOptions {
  readonly bindAddress: string;
  /** 0: any free port. */
  readonly port: number;
  readonly certificates: CertificateOptions;
  /** File with the bearer token for metrics and clusters. Absent: no authentication. */
  readonly metricsTokenFile?: string | undefined;
  readonly rows: () => Iterable<ClusterRow>;
  /** Whether the fleet is synced. */
  readonly isSynced: () => boolean;
  /** Whether this process can own clusters: it has joined the other replicas, or is the only one. */
  readonly hasJoined: () => boolean;
  /** In Prometheus' text format. */
  readonly ownMetrics: () => string | Promise<string>;
  /** Absent: over TLS, at the process's port on the loopback interface. */
  readonly scrape?: Scrape | undefined;
  readonly clock: Clock;
  readonly random?: Random | undefined;
  readonly log: Logger;
}

export interface Served {
  readonly address: string;
  readonly port: number;
  /** For a client on this machine. */
  readonly url: string;
  /** Requests in progress have a short grace period. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** Rejects with CertificateUnusable, with TokenUnusable, and with the system's error when the address is not available. */
export async function startServing(options: ServingOptions): Promise<Served> {
  const { bindAddress, metricsTokenFile, rows, isSynced, hasJoined, ownMetrics, clock, log } = options;
  const { random = systemRandom } = options;
  const token = metricsTokenFile === undefined ? undefined : new BearerToken(metricsTokenFile, log);
  await token?.read();
  if (!token && !isLoopback(bindAddress)) {
    log.warn(
      '/metrics and /clusters are served without authentication; set --metrics-token-file to require a bearer token',
      {
        bindAddress,
      },
    );
  }
  const scraper = new Scraper({ rows, ownMetrics, scrape: options.scrape ?? loopbackScrape(), clock, log });
  const admits = async (authorization: string | undefined): Promise<boolean> => token?.admits(authorization) ?? true;
  const routes = new Routes({ rows, health: new Health({ rows, isSynced, hasJoined }), scraper, admits, clock });
  const certificates = servingCertificates(options.certificates, bindAddress, { clock, random });
  const server = new HttpsServer({ certificates, routes, clock, log });
  const { address, port } = await server.listen(bindAddress, options.port);
  return {
    address,
    port,
    url: urlOf(address, port),
    async close() {
      scraper.close();
      await server.close();
    },
  };
}
