/** What a webhook server calls: something with a path that answers reviews. */

import type { JsonObject } from '@hangar/api/json';
import type { Client } from '@hangar/client';
import type { Clock, Logger } from '@hangar/core';

export interface HookContext {
  /** Fires when the API server does not wait any longer, or the server ends. */
  readonly signal: AbortSignal;
  /** The server's, when it was given one. */
  readonly client: Client | undefined;
  readonly log: Logger | undefined;
  readonly clock: Clock;
  /** Called when a handler failed in a way that it did not announce. */
  readonly onFailure: (error: Error, uid: string) => unknown;
}

export interface Hook {
  readonly type: 'validating' | 'mutating' | 'conversion';
  readonly path: string;
  /** Larger reviews are refused unread. */
  readonly bodyMaxBytes: number;
  /** Throws InvalidReview; every other failure is in the answer. */
  answer(review: unknown, context: HookContext): Promise<JsonObject>;
}

/** Two objects of the size that an API server takes, and what is around them. */
export const admissionMaxBytes = 7 * 1024 * 1024;
/** A list is converted by one request. */
export const conversionMaxBytes = 64 * 1024 * 1024;
