/** Signed requests to one bucket of an S3 server, with retries. */

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { abortError, backOffMs, hasCode, sleep } from '@hangar/core';
import type { BackOff, Clock, Random } from '@hangar/core';
import { HttpClient } from './http.ts';
import { connectionError, responseError, S3Error } from './s3-errors.ts';
import { emptySha256, escaped, queryText, signedHeaders } from './sign.ts';
import type { S3Credentials } from './sign.ts';

export interface S3ClientOptions {
  readonly endpoint: URL;
  readonly region: string;
  readonly bucket: string;
  /** `path`: https://host/bucket/key. `virtual`: https://bucket.host/key. */
  readonly addressing: 'path' | 'virtual';
  /** Called for each request, so that temporary credentials can be renewed. */
  credentials(): Promise<S3Credentials> | S3Credentials;
  readonly ca?: string | undefined;
  readonly idleTimeoutMs: number;
  readonly attemptsMax: number;
  readonly backOff: BackOff;
  readonly connectionsMax: number;
  readonly clock: Clock;
  readonly random: Random;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Absent: the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** SHA-256 of the body, hexadecimal, if the caller has computed it. */
  readonly bodySha256?: string;
  readonly signal?: AbortSignal | undefined;
  /** Called before each further attempt. Default: always. */
  mayRetry?(): boolean;
}

export interface S3Response {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Lists have at most 1,000 entries; other responses are short. */
const textBytesMax = 8 * 1024 * 1024;

export class S3Client {
  readonly #options: S3ClientOptions;
  readonly #http: HttpClient;
  readonly #host: string;

  constructor(options: S3ClientOptions) {
    this.#options = options;
    const { endpoint, bucket, addressing } = options;
    const url = new URL(endpoint);
    if (addressing === 'virtual') url.hostname = `${bucket}.${endpoint.hostname}`;
    this.#host = url.host;
    this.#http = new HttpClient({ ...options, endpoint: url });
  }

  /** Returns a whole response. Throws `S3Error` after the last attempt, or `Aborted`. */
  call(request: S3Request): Promise<S3Response> {
    return this.#retried(request, async () => {
      const response = await this.#send(request);
      const text = await this.#text(request, response);
      const status = response.statusCode!;
      // S3 sends the head of a long operation before its result: an error can follow a success.
      if (status < 300 && !text.includes('<Error>')) return { status, headers: response.headers, text };
      throw responseError(this.#described(request), status, text);
    });
  }

  /** Returns the stream of a response. Attempts are repeated until the head was received; the caller handles a stream that stops. */
  open(request: S3Request): Promise<IncomingMessage> {
    return this.#retried(request, async () => {
      const response = await this.#send(request);
      if (response.statusCode! < 300) return response;
      throw responseError(this.#described(request), response.statusCode!, await this.#text(request, response));
    });
  }

  /** Waits before the next attempt; `failures` counts from 1. Throws the error when no attempt is left. */
  async backOff(error: unknown, failures: number, signal: AbortSignal | undefined): Promise<void> {
    const { attemptsMax, backOff, clock, random } = this.#options;
    if (!(error instanceof S3Error) || !error.isRetryable || failures >= attemptsMax) throw error;
    await sleep(clock, backOffMs(backOff, failures, random), signal);
  }

  /** Converts the error of a stream that stopped. */
  streamError(request: S3Request, error: unknown): Error {
    const { signal } = request;
    return signal?.aborted ? abortError(signal) : connectionError(this.#described(request), error);
  }

  close(): void {
    this.#http.close();
  }

  async #retried<T>(request: S3Request, attempt: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        if (request.mayRetry?.() === false) throw error;
        await this.backOff(error, failures, request.signal);
      }
    }
  }

  async #send({
    method,
    key,
    query = {},
    headers = {},
    body,
    bodySha256,
    signal,
  }: S3Request): Promise<IncomingMessage> {
    const { bucket, addressing, region, clock, endpoint } = this.#options;
    const base = endpoint.pathname.replace(/\/+$/, '');
    const place = addressing === 'path' ? `/${bucket}` : '';
    const object = key === undefined ? '' : `/${key.split('/').map(escaped).join('/')}`;
    const path = `${base}${place}${object}` || '/';
    const credentials = await this.#options.credentials();
    const digest = bodySha256 ?? (body ? createHash('sha256').update(body).digest('hex') : emptySha256);
    const signed = signedHeaders(
      { method, host: this.#host, path, query, headers, bodySha256: digest },
      { credentials, region, nowMs: clock.now() },
    );
    const search = queryText(query);
    try {
      return await this.#http.send({
        method,
        path: search ? `${path}?${search}` : path,
        headers: signed,
        body,
        signal,
      });
    } catch (error) {
      if (hasCode(error, 'Aborted')) throw error;
      throw connectionError(this.#described({ method, ...(key !== undefined && { key }) }), error);
    }
  }

  async #text(request: S3Request, response: IncomingMessage): Promise<string> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const piece of response as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (bytes > textBytesMax) throw new Error('the response is too long');
        pieces.push(piece);
      }
    } catch (error) {
      throw this.streamError(request, error);
    }
    return Buffer.concat(pieces).toString();
  }

  #described({ method, key }: Pick<S3Request, 'method' | 'key'>): { action: string; place: string } {
    const { bucket, endpoint } = this.#options;
    return {
      action: key === undefined ? method : `${method} of ${key}`,
      place: `bucket ${bucket} of ${endpoint.host}`,
    };
  }
}
