/** The interface of hooks: a path that answers reviews. */

import type { JsonObject } from '@hangar/api/json';
import type { Client } from '@hangar/client';
import type { Clock, Logger } from '@hangar/core';

export interface HookContext {
  /** Aborted when the API server no longer waits, or the server stops. */
  readonly signal: AbortSignal;
  /** The client of the server, if it has one. */
  readonly client: Client | undefined;
  readonly log: Logger | undefined;
  readonly clock: Clock;
  /** Called when a handler failed with an unexpected error. */
  readonly onFailure: (error: Error, uid: string) => unknown;
}

export interface Hook {
  readonly type: 'validating' | 'mutating' | 'conversion';
  readonly path: string;
  /** Larger reviews are rejected without reading them. */
  readonly bodyMaxBytes: number;
  /** Throws `InvalidReview`; all other failures are in the response. */
  answer(review: unknown, context: HookContext): Promise<JsonObject>;
}

/** Two objects of the maximum size in API servers, and the envelope. */
export const admissionMaxBytes = 7 * 1024 * 1024;
/** A list is converted by one request. */
export const conversionMaxBytes = 64 * 1024 * 1024;
