/** One HTTP/1.1 request over kept connections, with bodies from memory and streamed responses. */

import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { abortError } from '@hangar/core';
import type { Clock } from '@hangar/core';

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
  readonly clock: Clock;
}

/**
 * A client with a longer body waits for the server's `100 Continue`, so that a refusal is received: a server that refuses closes the connection,
 * and bytes that arrive then make the client's system discard the response.
 */
const waitingBodyBytes = 1024 * 1024;
/** A server that has not answered after this time does not support it. */
const continueTimeoutMs = 1_000;

/** The body is written in pieces, so that a TLS connection does not hold an encrypted copy of all of it. */
const pieceBytes = 256 * 1024;

export class HttpClient {
  readonly #options: HttpOptions;
  readonly #agent: HttpAgent | HttpsAgent;
  #waitsForContinue = true;

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
      const isWaiting = this.#waitsForContinue && (body?.length ?? 0) > waitingBodyBytes;
      const request = start({
        agent: this.#agent,
        hostname: endpoint.hostname.replaceAll(/^\[|\]$/g, ''),
        port: endpoint.port,
        method,
        path,
        headers: {
          ...headers,
          ...(method !== 'GET' && method !== 'HEAD' && { 'content-length': body?.length ?? 0 }),
          ...(isWaiting && { expect: '100-continue' }),
        },
        timeout: idleTimeoutMs,
        ...(signal && { signal }),
      });
      request.on('timeout', () => request.destroy(new Error(`no data for ${idleTimeoutMs / 1_000} s`)));
      request.on('error', (error) => reject(signal?.aborted ? abortError(signal) : error));
      let isBodySent = !isWaiting;
      request.on('response', (response) => {
        // The response to a request without its body is final, and the connection cannot be used again.
        if (!isBodySent) response.once('end', () => request.destroy());
        resolve(response);
      });
      if (!isWaiting) return void sendBody(request, body, onSent);
      request.flushHeaders();
      void this.#isContinued(request).then((isContinued) => {
        isBodySent = isContinued;
        return isContinued ? sendBody(request, body, onSent) : undefined;
      });
    });
  }

  /** Resolves with false if the server answers before the body. */
  #isContinued(request: ClientRequest): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(continueTimeoutMs, () => {
        this.#waitsForContinue = false;
        resolve(true);
      });
      const settle = (isContinued: boolean) => (): void => {
        timer.cancel();
        resolve(isContinued);
      };
      request.once('continue', settle(true)).once('response', settle(false)).once('close', settle(false));
    });
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
  }
}

async function sendBody(
  request: ClientRequest,
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

function drained(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off('drain', done).off('close', done);
      resolve();
    };
    request.on('drain', done).on('close', done);
  });
}
