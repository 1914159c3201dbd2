/** Reads the metrics of one API server by the address of its pod. */

import { httpTransport } from '@hangar/client';
import type { Clock } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import { endpointUrl } from '../endpoint-url.ts';
import { SampleReader } from './exposition.ts';
import type { Sample } from './exposition.ts';

export interface ScrapeTarget {
  /** Address of the pod. */
  readonly host: string;
  readonly port: number;
  /** A name in the certificate of the API server. */
  readonly serverName: string;
  /** PEM of the authorities of the control plane. */
  readonly authority: string;
  readonly credentials: KeyPair;
}

/** Rejects if the API server does not respond with its metrics in time. */
export type Scrape = (target: ScrapeTarget, signal: AbortSignal) => Promise<Sample>;

const connectTimeoutMs = 3_000;
const answerTimeoutMs = 10_000;
const answerBytesMax = 64 * 2 ** 20;

/** HTTP/1.1, because its connections have no limit of bytes in flight; uncompressed, because the API server is in the same network. */
export const scrapeOverTls =
  (clock: Clock): Scrape =>
  async ({ host, port, serverName, authority, credentials }, signal) => {
    const config = {
      server: endpointUrl({ host, port }),
      ca: authority,
      serverName,
      disableCompression: true,
      credentials: { headers: () => ({}), clientCertificate: () => Promise.resolve(credentials) },
    };
    // No proxy of the environment: it cannot reach pods.
    const options = { clock, protocols: ['http/1.1'], connectTimeoutMs, environment: {} } as const;
    const transport = httpTransport(config, options);
    try {
      const headers = { accept: 'text/plain;version=0.0.4' };
      const request = { method: 'GET', target: '/metrics', headers, signal, answerTimeoutMs, answerBytesMax };
      const answer = await transport.request(request);
      if (answer.status !== 200) throw new Error(`GET /metrics returned status ${answer.status}`);
      const reader = new SampleReader();
      for await (const chunk of answer.stream()) reader.push(chunk);
      return reader.end();
    } finally {
      await transport.close();
    }
  };
