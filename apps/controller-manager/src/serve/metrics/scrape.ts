/** Scrapes the metrics of a process on this machine. */

import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { asError } from '@hangar/core';
import type { ServiceProcess } from '../../contract.ts';
import { ServeError } from '../errors.ts';

/** Rejects when the process does not answer with metrics, when they exceed `maxBytes`, and when the signal fires. */
export type Scrape = (process: ServiceProcess, limits: ScrapeLimits) => Promise<Uint8Array>;

export interface ScrapeLimits {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
}

/**
 * Uses TLS and accepts any certificate: the process created it itself, and only processes of this machine answer on the loopback interface.
 * Keeps TLS sessions instead of connections: the next handshake is short.
 */
export function loopbackScrape(): Scrape {
  const agent = new Agent({ keepAlive: false, maxCachedSessions: 256 });
  return ({ port }, { signal, maxBytes }) =>
    new Promise((resolve, reject) => {
      const fail = (cause: unknown): void =>
        reject(new ServeError('ScrapeFailed', `port ${port}: ${asError(cause).message}`, { cause }));
      const asked = request(
        {
          host: '127.0.0.1',
          port,
          path: '/metrics',
          agent,
          rejectUnauthorized: false,
          headers: { accept: 'text/plain;version=0.0.4' },
          signal,
        },
        (response) => bodyOf(response, maxBytes).then(resolve, fail),
      );
      asked.on('error', fail);
      asked.end();
    });
}

async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`the process answered ${response.statusCode}`);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the process answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
