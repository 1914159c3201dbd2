/**
 * Limits the bytes of complete answers that wait for a client to read them: of one connection, and of one control plane. A client
 * may open 250 streams and take nothing, and each of them would hold up to 32 MiB until it is cut off.
 *
 *     const release = held.hold(length);      // undefined: answer 429 instead
 *     stream.onClose(release);
 */

import { currentActivity } from '@hangar/core';
import type { Answer } from './message.ts';

const mebibyte = 1024 * 1024;

export interface HeldLimits {
  readonly connectionBytes: number;
  readonly tenantBytes: number;
}

const usualLimits: HeldLimits = { connectionBytes: 96 * mebibyte, tenantBytes: 192 * mebibyte };
/** Smaller answers are not held: there are at most as many as streams. */
export const heldFrom = 64 * 1024;

const byTenant = new Map<string, number>();

/** The answers of one connection. */
export class HeldAnswers {
  readonly #limits: HeldLimits;
  #bytes = 0;

  constructor(limits = usualLimits) {
    this.#limits = limits;
  }

  /**
   * Returns a function that ends the holding, to be called once. Returns undefined when the connection, or the control plane that
   * the current activity is for, holds too much already. A connection may always hold one answer.
   */
  hold(length: number): (() => void) | undefined {
    const tenant = currentActivity()?.tenant ?? '';
    const ofTenant = byTenant.get(tenant) ?? 0;
    if (this.#bytes > 0 && this.#bytes + length > this.#limits.connectionBytes) return undefined;
    // The management plane serves the platform itself.
    if (tenant !== '' && ofTenant > 0 && ofTenant + length > this.#limits.tenantBytes) return undefined;
    this.#bytes += length;
    byTenant.set(tenant, ofTenant + length);
    return () => {
      this.#bytes -= length;
      const left = byTenant.get(tenant)! - length;
      if (left > 0) byTenant.set(tenant, left);
      else byTenant.delete(tenant);
    };
  }
}

/** Replaces an answer that cannot be held. */
export const tooManyHeld: Answer & { readonly body: Buffer } = {
  status: 429,
  headers: { 'content-type': 'application/json', 'retry-after': '1' },
  body: Buffer.from(
    JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'too many answers wait to be read: read them, or wait until they are dropped',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 1 },
      code: 429,
    }),
  ),
};
