/**
 * Limits the bytes of complete responses that wait for a client to read them: per connection, and per control plane. A client may open 250
 * streams and read nothing, and each of them would hold up to 32 MiB until it is aborted.
 *
 *     const release = held.hold(length);      // undefined: answer a read with 429, and close the stream of a write
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
/** Smaller responses are not counted: there are at most as many as streams. */
export const heldFrom = 64 * 1024;

const byTenant = new Map<string, number>();

/** The pending responses of one connection. */
export class HeldAnswers {
  readonly #limits: HeldLimits;
  #bytes = 0;

  constructor(limits = usualLimits) {
    this.#limits = limits;
  }

  /**
   * Returns a release function, to be called once. Returns undefined if the connection, or the control plane of the current activity,
   * already holds too much. A connection may always hold one response.
   */
  hold(length: number): (() => void) | undefined {
    const tenant = currentActivity()?.tenant ?? '';
    const ofTenant = byTenant.get(tenant) ?? 0;
    if (this.#bytes > 0 && this.#bytes + length > this.#limits.connectionBytes) return undefined;
    // The management plane has no limit: it serves the platform itself.
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

/** Replaces the response to a read that exceeds the limits. */
export const tooManyHeld: Answer & { readonly body: Buffer } = {
  status: 429,
  headers: { 'content-type': 'application/json', 'retry-after': '1' },
  body: Buffer.from(
    JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'too many responses of this connection or control plane have not been read; retry after reading them',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 1 },
      code: 429,
    }),
  ),
};
