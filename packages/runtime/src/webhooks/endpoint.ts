/**
 * A webhook server without sockets: from a complete request to a response. It responds in time even if a handler throws, hangs, or receives
 * malformed input.
 */

import { isObject, parseJson } from '@hangar/api/json';
import { parseDuration } from '@hangar/api/values';
import type { Client } from '@hangar/client';
import { asError, hasCode, systemClock, traced } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import type { Hook } from './hook.ts';
import type { WebhookMetrics } from './webhook-metrics.ts';

export interface WebhookRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** Aborted when the client closes the connection. */
  readonly signal?: AbortSignal | undefined;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Handles requests that are not reviews. */
export type RawHandler = (request: WebhookRequest) => WebhookAnswer | Promise<WebhookAnswer>;

export interface EndpointOptions {
  readonly metrics: WebhookMetrics;
  readonly client?: Client | undefined;
  readonly log?: Logger | undefined;
  readonly clock?: Clock | undefined;
}

/** Maximum timeout of webhooks in API servers. */
const timeoutMaxMs = 30_000;
const rawMaxBytes = 7 * 1024 * 1024;

export class WebhookEndpoint {
  readonly #hooks = new Map<string, Hook>();
  readonly #raw = new Map<string, RawHandler>();
  readonly #metrics: WebhookMetrics;
  readonly #client: Client | undefined;
  readonly #log: Logger | undefined;
  readonly #clock: Clock;

  constructor({ metrics, client, log, clock = systemClock }: EndpointOptions) {
    this.#metrics = metrics;
    this.#client = client;
    this.#log = log;
    this.#clock = clock;
  }

  /** Throws `InvalidOptions` when the path is already used. */
  add(hook: Hook): void {
    this.#take(hook.path);
    this.#hooks.set(hook.path, hook);
  }

  addRaw(path: string, handler: RawHandler): void {
    this.#take(path);
    this.#raw.set(path, handler);
  }

  #take(path: string): void {
    if (!path.startsWith('/') || /[?#\s]/.test(path)) {
      throw new RuntimeError('InvalidOptions', `${JSON.stringify(path)} is not a path`);
    }
    if (this.#hooks.has(path) || this.#raw.has(path)) {
      throw new RuntimeError('InvalidOptions', `duplicate webhook path ${path}`);
    }
  }

  /** Checks the request before the body is read. Returns an error response, or the maximum length of the body. */
  admit({ method, target, headers }: Omit<WebhookRequest, 'body'>): WebhookAnswer | number {
    const path = pathOf(target);
    if (this.#raw.has(path)) return rawMaxBytes;
    const hook = this.#hooks.get(path);
    if (!hook) return plain(404, `no webhook is registered at ${path}`);
    if (method !== 'POST') return plain(405, 'the method must be POST', { allow: 'POST' });
    if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
      return plain(415, 'the content type must be application/json');
    }
    const length = Number(headers['content-length'] ?? 0);
    return length > hook.bodyMaxBytes ? tooLarge(hook.bodyMaxBytes) : hook.bodyMaxBytes;
  }

  /** Never rejects. */
  async answer(request: WebhookRequest): Promise<WebhookAnswer> {
    const path = pathOf(request.target);
    const isKnown = this.#hooks.has(path) || this.#raw.has(path);
    // Unregistered paths are not counted: unauthenticated clients must not create series.
    const ended = isKnown ? this.#metrics.began(path) : undefined;
    const began = this.#clock.monotonicMs();
    let answer: WebhookAnswer;
    try {
      answer = await traced(
        'webhook',
        () => this.#answer(path, request),
        () => ({ 'webhook.path': path }),
      );
    } catch (thrown) {
      this.#failed(asError(thrown), path);
      answer = plain(500, 'the webhook failed; its log has the details');
    }
    ended?.(answer.status, (this.#clock.monotonicMs() - began) / 1000);
    return answer;
  }

  async #answer(path: string, request: WebhookRequest): Promise<WebhookAnswer> {
    const admitted = this.admit(request);
    if (typeof admitted !== 'number') return admitted;
    if (request.body.length > admitted) return tooLarge(admitted);
    const timeoutMs = timeoutOf(request.target);
    if (timeoutMs === undefined) return plain(400, 'the timeout in the query is not a duration');
    return this.#inTime(timeoutMs, request.signal, async (signal) => {
      const raw = this.#raw.get(path);
      if (raw) return raw({ ...request, signal });
      return this.#review(this.#hooks.get(path)!, request.body, signal);
    });
  }

  async #review(hook: Hook, body: Uint8Array, signal: AbortSignal): Promise<WebhookAnswer> {
    let review: unknown;
    try {
      review = parseJson(body).value;
    } catch (error) {
      return plain(400, `the body is not JSON: ${asError(error).message}`);
    }
    if (!isObject(review)) return plain(400, 'the body is not a review');
    try {
      const answer = await hook.answer(review, {
        signal,
        client: this.#client,
        log: this.#log,
        clock: this.#clock,
        // A failure after an abort is not reported.
        onFailure: (error, uid) => signal.aborted || this.#failed(error, hook.path, uid),
      });
      return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) };
    } catch (error) {
      if (hasCode(error, 'InvalidReview')) return plain(400, error.message);
      throw error;
    }
  }

  #failed(error: Error, path: string, uid?: string): void {
    this.#metrics.panicked(this.#hooks.get(path)?.type === 'conversion');
    this.#log?.error('webhook failed', { webhook: path, ...(uid === undefined ? {} : { uid }), error });
  }

  /** Aborts the handler at its timeout, and responds then even if the handler ignores the signal. */
  async #inTime(
    timeoutMs: number,
    asker: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<WebhookAnswer>,
  ): Promise<WebhookAnswer> {
    const over = new AbortController();
    const signal = asker ? AbortSignal.any([asker, over.signal]) : over.signal;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        timer.cancel();
        asker?.removeEventListener('abort', onGone);
      };
      const onGone = (): void => {
        settle();
        resolve(plain(499, 'the client closed the connection'));
      };
      const timer = this.#clock.after(timeoutMs, () => {
        settle();
        resolve(plain(504, `the webhook did not respond within ${timeoutMs} ms`));
        over.abort(new RuntimeError('NotServing', 'the timeout of the request has passed'));
      });
      if (asker?.aborted) return onGone();
      asker?.addEventListener('abort', onGone, { once: true });
      run(signal).then(
        (answer) => {
          settle();
          resolve(answer);
        },
        (error: unknown) => {
          settle();
          // No effect after the timeout: both promises are settled.
          reject(asError(error));
        },
      );
    });
  }
}

const pathOf = (target: string): string => target.split('?', 1)[0]!;

export const plain = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): WebhookAnswer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body: `${message}\n`,
});

export const tooLarge = (maxBytes: number): WebhookAnswer => plain(413, `the review is larger than ${maxBytes} bytes`);

/** Slightly shorter than the timeout of the API server, so that it still receives the reason. */
function timeoutOf(target: string): number | undefined {
  const query = new URLSearchParams(target.slice(pathOf(target).length));
  const text = query.get('timeout');
  if (text === null) return timeoutMaxMs;
  try {
    const askedMs = Number(parseDuration(text)) / 1e6;
    if (!(askedMs > 0)) return undefined;
    return Math.min(timeoutMaxMs, askedMs - Math.min(250, askedMs / 10));
  } catch {
    return undefined;
  }
}
