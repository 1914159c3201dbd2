/** Options of a client's requests. */

import type { Clock, Random } from '@hangar/core';

/** Options of a client's requests. All are optional. */
export interface RestOptions {
  /** Sent as `User-Agent`, in the form `name/version`. Audit logs, metrics and field managers show it. */
  readonly userAgent?: string | undefined;
  /** Retries of failed requests. `false` disables them. */
  readonly retry?: RetryOptions | false | undefined;
  /**
   * Rejects with `TimedOut` when the server sends nothing for this time. Watches have their own limit. Absent: 75 s, which is longer than
   * the request timeout of servers.
   */
  readonly timeoutMs?: number | undefined;
  /** Rejects with `TimedOut` when a response other than a watch is not complete after this time. Absent: 10 min. */
  readonly answerTimeoutMs?: number | undefined;
  /** Rejects with `MalformedAnswer` when a decompressed response is larger. Absent: 256 MiB. Error responses are limited to 1 MiB. */
  readonly answerBytesMax?: number | undefined;
  /** Client-side rate limit. Absent: no limit; the server has its own flow control. */
  readonly rateLimit?: { readonly perSecond: number; readonly burst: number } | undefined;
  /** Receives every completed attempt. `RestMetrics` records them under the metric names of client-go. */
  readonly metrics?: RequestObserver | undefined;
  /** Receives the warnings of the server, each text once. Absent: warnings are discarded. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** Clock for timeouts and retries. Absent: the system clock. */
  readonly clock?: Clock | undefined;
  /** Source of the jitter of retries. Absent: the random source of the system. */
  readonly random?: Random | undefined;
}

/**
 * Limits of retries. A request is retried after status 429 or 5xx with `Retry-After`, after a failed connection and, if it is a read,
 * after a lost connection.
 */
export interface RetryOptions {
  /** Maximum number of retries after responses with `Retry-After`. Absent: 10, as in client-go. */
  readonly refusedMax?: number | undefined;
  /** Maximum `Retry-After` to wait for. A longer one rejects the call with the response of the server. Absent: 60 s. */
  readonly retryAfterMaxMs?: number | undefined;
  /** Maximum number of retries without a response. Absent: 4. */
  readonly brokenMax?: number | undefined;
  /** First delay, which doubles with every retry. Absent: 100 ms. */
  readonly delayMs?: number | undefined;
  /** Maximum delay. Absent: 5 s. */
  readonly delayMaxMs?: number | undefined;
}

/** Receives the attempts of requests. */
export interface RequestObserver {
  /** Called after each attempt. */
  observe(request: {
    readonly method: string;
    readonly host: string;
    /** HTTP status, or `<error>` when there was no response. */
    readonly code: string;
    readonly durationSeconds: number;
  }): void;
}
