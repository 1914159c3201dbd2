/** One HTTP/1.1 request over kept connections, with bodies from memory and streamed responses. */

import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { abortError } from '@hangar/core';

export interface HttpRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Bytes of the body that were handed to the connection. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

export interface HttpOptions {
  readonly endpoint: URL;
  /** PEM. Absent: the authorities of the system. */
  readonly ca?: string | undefined;
  /** A connection without a byte in either direction for this time is closed. */
  readonly idleTimeoutMs: number;
  readonly connectionsMax: number;
}

/** The body is written in pieces, so that a TLS connection does not hold an encrypted copy of all of it. */
const pieceBytes = 256 * 1024;

export class HttpClient {
  readonly #options: HttpOptions;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(options: HttpOptions) {
    this.#options = options;
    const { connectionsMax: maxSockets, ca } = options;
    this.#agent =
      options.endpoint.protocol === 'https:'
        ? new HttpsAgent({ keepAlive: true, maxSockets, ...(ca !== undefined && { ca }) })
        : new HttpAgent({ keepAlive: true, maxSockets });
  }

  /** Resolves when the head of the response was received. The caller reads or destroys the body. */
  send({ method, path, headers, body, signal, onSent }: HttpRequest): Promise<IncomingMessage> {
    const { endpoint, idleTimeoutMs } = this.#options;
    const start = endpoint.protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      const request = start({
        agent: this.#agent,
        hostname: endpoint.hostname.replaceAll(/^\[|\]$/g, ''),
        port: endpoint.port,
        method,
        path,
        headers: { ...headers, ...(method !== 'GET' && method !== 'HEAD' && { 'content-length': body?.length ?? 0 }) },
        timeout: idleTimeoutMs,
        ...(signal && { signal }),
      });
      request.on('timeout', () => request.destroy(new Error(`no data for ${idleTimeoutMs / 1_000} s`)));
      request.on('error', (error) => reject(signal?.aborted ? abortError(signal) : error));
      request.on('response', resolve);
      void sendBody(request, body, onSent);
    });
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
  }
}

async function sendBody(
  request: ReturnType<typeof httpRequest>,
  body: Uint8Array | undefined,
  onSent: HttpRequest['onSent'],
): Promise<void> {
  for (let at = 0; body && at < body.length && !request.destroyed; at += pieceBytes) {
    const piece = body.subarray(at, at + pieceBytes);
    if (!request.write(piece)) await drained(request);
    onSent?.(piece.length);
  }
  request.end();
}

function drained(request: ReturnType<typeof httpRequest>): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off('drain', done).off('close', done);
      resolve();
    };
    request.on('drain', done).on('close', done);
  });
}
