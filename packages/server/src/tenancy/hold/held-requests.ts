/**
 * Requests that wait until a migration ends its hold of their tenant. Their number is limited per tenant and in total, and so is the time.
 * Bodies are not read meanwhile: the connection of a waiting client is not read further.
 */

import type { StatusError } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { ServerRequest } from '../../http/message.ts';
import type { Tenant } from '../tenant.ts';
import { stillHeld } from './refusals.ts';

export interface HeldRequestsOptions {
  readonly clock: Clock;
  /** Limits of the number of waiting requests. */
  readonly perTenantMax?: number;
  readonly totalMax?: number;
  /** Longest time that a request waits. */
  readonly waitMaxMs?: number;
}

const defaultPerTenantMax = 2_000;
const defaultTotalMax = 10_000;
const defaultWaitMaxMs = 10_000;
/** After this time without a renewed hold, requests no longer wait. */
const renewedWithinMs = 60_000;
/** Shortest wait: the index of tenants may lag behind the identity. */
const waitMinMs = 20;

/** Returns true while the request must wait. */
type IsHeld = () => boolean;

export class HeldRequests {
  readonly #options: HeldRequestsOptions;
  /** By the path of the tenant. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #total = 0;

  constructor(options: HeldRequestsOptions) {
    this.#options = options;
  }

  /** Number of waiting requests of the tenant. */
  count(path: string): number {
    return this.#waiting.get(path)?.size ?? 0;
  }

  /**
   * Resolves with undefined when the tenant may have been released; with the refusal if the request must not wait, or not any longer, or if
   * its client has disconnected. `sinceMs`: when the request arrived, in monotonic time.
   */
  async wait(
    tenant: Tenant,
    request: ServerRequest,
    { sinceMs, isHeld }: { readonly sinceMs: number; readonly isHeld: IsHeld },
  ): Promise<StatusError | undefined> {
    const { path, serving } = tenant;
    const { clock, perTenantMax, totalMax, waitMaxMs } = this.#options;
    const leftMs = sinceMs + (waitMaxMs ?? defaultWaitMaxMs) - clock.monotonicMs();
    const isForgotten = serving?.heldAt !== undefined && clock.now() - Date.parse(serving.heldAt) > renewedWithinMs;
    const isFull =
      this.count(path) >= (perTenantMax ?? defaultPerTenantMax) || this.#total >= (totalMax ?? defaultTotalMax);
    if (leftMs <= 0 || isForgotten || isFull) return stillHeld(path);
    if (!isHeld()) {
      await this.#until(path, Math.min(waitMinMs, leftMs), request);
      return undefined;
    }
    const isInTime = await this.#until(path, leftMs, request, isHeld);
    return isInTime ? undefined : stillHeld(path);
  }

  /** Called when the tenant changed or was deleted. */
  changed(path: string): void {
    for (const wake of this.#waiting.get(path) ?? []) wake();
  }

  /** Resolves with false after `ms`. */
  #until(path: string, ms: number, { passing }: ServerRequest, isHeld: IsHeld = () => true): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isInTime: boolean): void => {
        timer.cancel();
        stay?.();
        this.#remove(path, wake);
        resolve(isInTime);
      };
      const wake = (): void => {
        if (!isHeld()) end(true);
      };
      const timer = this.#options.clock.after(ms, () => end(false));
      this.#add(path, wake);
      const stay = passing?.onGone?.(() => end(false));
    });
  }

  #add(path: string, wake: () => void): void {
    const ofTenant = this.#waiting.get(path);
    if (ofTenant) ofTenant.add(wake);
    else this.#waiting.set(path, new Set([wake]));
    this.#total++;
  }

  #remove(path: string, wake: () => void): void {
    const ofTenant = this.#waiting.get(path);
    if (!ofTenant?.delete(wake)) return;
    this.#total--;
    if (ofTenant.size === 0) this.#waiting.delete(path);
  }
}
