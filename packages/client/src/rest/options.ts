/** What whoever makes a client may decide. */

import type { Clock, Random } from '@hangar/core';

export interface RestOptions {
  /** As `name/version`: who asks, for audit logs, metrics and field managers. */
  readonly userAgent?: string | undefined;
  readonly retry?: RetryOptions | false | undefined;
  /** `TimedOut` when the server says nothing for so long. Watches have their own. Absent: 75 s, more than servers give themselves. */
  readonly timeoutMs?: number | undefined;
  /** `TimedOut` when an answer that is no watch is not whole after so long, however its bytes trickle. Absent: 10 min. */
  readonly answerTimeoutMs?: number | undefined;
  /** `MalformedAnswer` for one that is longer, decompressed: all of it is in memory. Absent: 256 MiB. Refusals have 1 MiB at most. */
  readonly answerBytesMax?: number | undefined;
  /** Requests by this client beyond which it waits. Absent: none: servers know better what they can take. */
  readonly rateLimit?: { readonly perSecond: number; readonly burst: number } | undefined;
  /** Every attempt that ended. `RestMetrics` counts them under client-go's names. */
  readonly metrics?: RequestObserver | undefined;
  /** What the server warns of, each text once. Absent: nobody is told. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
}

export interface RetryOptions {
  /** Where the server says when to come again. Absent: 10, as client-go. */
  readonly refusedMax?: number | undefined;
  /** A longer wait than this is the caller's to decide: the refusal is given to it. Absent: 60 s. */
  readonly retryAfterMaxMs?: number | undefined;
  /** Where there was no answer. Absent: 4. */
  readonly brokenMax?: number | undefined;
  /** Waits double from this one. Absent: 100 ms. */
  readonly delayMs?: number | undefined;
  /** Absent: 5 s. */
  readonly delayMaxMs?: number | undefined;
}

export interface RequestObserver {
  observe(request: {
    readonly method: string;
    readonly host: string;
    /** Of HTTP; `<error>` when there was no answer. */
    readonly code: string;
    readonly durationSeconds: number;
  }): void;
}
