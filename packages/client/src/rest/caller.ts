/**
 * One logical request with retries: waits for the rate limit, sends, counts, reports warnings, and resends as `retry.ts` decides. `call`
 * converts error responses to errors.
 */

import { systemClock, systemRandom, traced } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { HttpAnswer, HttpRequest, HttpTransport } from '../transport/contract.ts';
import type { RequestObserver, RestOptions } from './options.ts';
import { RateLimit } from './rate-limit.ts';
import { refusalOf } from './refusal.ts';
import { RetryPolicy } from './retry.ts';
import { Warnings } from './warnings.ts';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: string | undefined;
  readonly accept?: string | undefined;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly isLong?: boolean | undefined;
  readonly silenceMs?: number | undefined;
}

const defaultUserAgent = 'hangar-client/0.1.0';
/** Slightly more than the limit of kube-apiserver of a minute, whose response has more information than a timeout. */
const defaultTimeoutMs = 75_000;
/** Enough for hundreds of megabytes over a slow connection; limits servers that trickle on purpose. */
const defaultAnswerTimeoutMs = 10 * 60_000;

export class Caller {
  readonly #transport: HttpTransport;
  readonly #userAgent: string;
  readonly #timeoutMs: number;
  readonly #answerTimeoutMs: number;
  readonly #answerBytesMax: number | undefined;
  readonly #clock: Clock;
  readonly #retry: RetryPolicy;
  readonly #rateLimit: RateLimit | undefined;
  readonly #warnings: Warnings | undefined;
  readonly #metrics: RequestObserver | undefined;

  constructor(transport: HttpTransport, options: RestOptions) {
    const { clock = systemClock, random = systemRandom, retry = {}, rateLimit, onWarning } = options;
    this.#transport = transport;
    this.#userAgent = options.userAgent ?? defaultUserAgent;
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    this.#answerTimeoutMs = options.answerTimeoutMs ?? defaultAnswerTimeoutMs;
    this.#answerBytesMax = options.answerBytesMax;
    this.#clock = clock;
    this.#retry = new RetryPolicy(retry, { clock, random });
    this.#rateLimit = rateLimit && new RateLimit(clock, rateLimit);
    this.#warnings = onWarning && new Warnings(onWarning);
    this.#metrics = options.metrics;
  }

  /** Rejects unless the response is a success. */
  async call(call: Call): Promise<HttpAnswer> {
    const { method, path, query, accept = 'application/json', body, signal, isLong, silenceMs } = call;
    const target = query ? `${path}?${query}` : path;
    const request: HttpRequest =
      body === undefined
        ? { method, target, headers: { accept }, signal, isLong, silenceMs }
        : {
            method,
            target,
            headers: { accept, 'content-type': call.contentType ?? 'application/json' },
            body: Buffer.from(JSON.stringify(body)),
            signal,
          };
    const answer = await this.send(request);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw await refusalOf(answer);
  }

  /** Resolves with the last response of any status. */
  send(given: HttpRequest): Promise<HttpAnswer> {
    const request: HttpRequest = {
      ...given,
      headers: { 'user-agent': this.#userAgent, ...given.headers },
      // A followed log may be silent without limit.
      silenceMs: given.silenceMs ?? (given.isLong ? undefined : this.#timeoutMs),
      answerTimeoutMs: given.answerTimeoutMs ?? (given.isLong ? undefined : this.#answerTimeoutMs),
      answerBytesMax: given.answerBytesMax ?? this.#answerBytesMax,
    };
    return traced(
      'kubernetes.request',
      () => this.#send(request),
      () => ({ method: request.method, target: request.target }),
    );
  }

  async #send(request: HttpRequest): Promise<HttpAnswer> {
    let [broken, refused] = [0, 0];
    for (;;) {
      const turn = this.#rateLimit?.enter(request.signal);
      if (turn) await turn;
      let delayMs: number | undefined;
      try {
        const answer = await this.#attempt(request);
        const isFinal = answer.status < 400 || request.upload !== undefined;
        delayMs = isFinal ? undefined : this.#retry.delayAfterAnswer(answer, refused);
        if (delayMs === undefined) return answer;
        refused++;
        await answer.body();
      } catch (error) {
        delayMs = this.#retry.delayAfterError(error, request, broken);
        if (delayMs === undefined) throw error;
        broken++;
      }
      await this.#retry.wait(delayMs, request.signal);
    }
  }

  async #attempt(request: HttpRequest): Promise<HttpAnswer> {
    if (!this.#metrics) {
      const answer = await this.#transport.request(request);
      this.#readWarnings(answer);
      return answer;
    }
    const begunMs = this.#clock.monotonicMs();
    let code = '<error>';
    try {
      const answer = await this.#transport.request(request);
      code = String(answer.status);
      this.#readWarnings(answer);
      return answer;
    } finally {
      this.#metrics.observe({
        method: request.method,
        host: this.#transport.host ?? '',
        code,
        durationSeconds: (this.#clock.monotonicMs() - begunMs) / 1_000,
      });
    }
  }

  #readWarnings(answer: HttpAnswer): void {
    const header = this.#warnings && answer.header('warning');
    if (header !== undefined) this.#warnings!.read(header);
  }
}
