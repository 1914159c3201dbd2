/**
 * Sets and removes quarantines: `status.quarantine` of a `Tenant`. While it is set, every server refuses the tenant's requests, and its
 * controllers do not run. It is removed when it expires, or by an administrator.
 *
 * One timer serves all quarantines, and none runs while no tenant is quarantined.
 */

import type { KubeObject } from '@hangar/api';
import { detachedClock } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import type { Revision, Store } from '@hangar/store';
import { tenantKey } from './tenant.ts';
import type { Quarantine, Tenant } from './tenant.ts';

export interface QuarantinesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly storePrefix: string;
  readonly all: () => Iterable<Tenant>;
  /** Resolves when this server has observed the revision. */
  readonly reached: (revision: Revision) => Promise<void>;
  readonly onError: (error: Error) => void;
}

export interface QuarantineOptions extends Pick<Quarantine, 'reason' | 'message'> {
  readonly durationMs: number;
}

const attemptsMax = 8;
/** Delay before the next attempt if the clocks of servers differ or the store did not respond. */
const againAfterMs = 1_000;

interface StoredTenant extends KubeObject {
  status?: { quarantine?: Quarantine };
}

export class Quarantines {
  readonly #options: QuarantinesOptions;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #onResumed: ((path: string) => void) | undefined;

  constructor(options: QuarantinesOptions) {
    this.#options = options;
    this.#clock = detachedClock(options.clock);
  }

  /** Resolves with false if the tenant does not exist. If it is already quarantined, the later expiry applies. */
  async put(path: string, { reason, message, durationMs }: QuarantineOptions): Promise<boolean> {
    const sinceMs = this.#clock.now();
    const until = timeText(sinceMs + durationMs);
    return this.#write(path, (before) =>
      before && before.until >= until ? before : { reason, message, since: timeText(sinceMs), until },
    );
  }

  /** Sets the only listener. It receives tenants whose quarantine was removed before it expired. */
  onResumed(listener: (path: string) => void): void {
    this.#onResumed = listener;
  }

  /** Called when a tenant changed or was deleted. */
  changed(before: Tenant, now: Tenant | undefined): void {
    if (before.quarantine?.until === now?.quarantine?.until) return;
    const isRemoved = before.quarantine && !now?.quarantine;
    if (isRemoved && Date.parse(before.quarantine.until) > this.#clock.now()) this.#onResumed?.(before.path);
    this.follow();
  }

  /** Sets the timer for the first quarantine that expires. */
  follow(): void {
    const ends = Array.from(this.#options.all(), ({ quarantine }) => quarantine).filter((one) => one !== undefined);
    this.#timer?.cancel();
    this.#timer = undefined;
    if (ends.length === 0) return;
    const firstMs = Math.min(...ends.map(({ until }) => Date.parse(until) || 0));
    const waitMs = Math.max(againAfterMs, firstMs - this.#clock.now());
    this.#timer = this.#clock.after(waitMs, () => void this.#expire());
  }

  close(): void {
    this.#timer?.cancel();
  }

  async #expire(): Promise<void> {
    const nowMs = this.#clock.now();
    const isOver = ({ until }: Quarantine): boolean => !(Date.parse(until) > nowMs);
    try {
      for (const { path, quarantine } of this.#options.all()) {
        if (!quarantine || !isOver(quarantine)) continue;
        await this.#write(path, (before) => (before && isOver(before) ? undefined : before));
      }
    } catch (error) {
      this.#options.onError(error as Error);
    }
    this.follow();
  }

  async #write(path: string, change: (before: Quarantine | undefined) => Quarantine | undefined): Promise<boolean> {
    const { store, storePrefix, reached } = this.#options;
    const key = tenantKey(storePrefix, path);
    for (let attempt = 1; ; attempt++) {
      const { entry } = await store.get(key);
      if (!entry) return false;
      const object = JSON.parse(Buffer.from(entry.value).toString()) as StoredTenant;
      const before = object.status?.quarantine;
      const after = change(before);
      if (after === before) return true;
      const { quarantine: _, ...status } = object.status ?? {};
      object.status = after ? { ...status, quarantine: after } : status;
      const value = Buffer.from(JSON.stringify(object));
      const result = await store.commit([{ type: 'put', key, value, expected: entry.modRevision }]);
      if (result.committed) {
        await reached(result.revision);
        return true;
      }
      if (attempt === attemptsMax) throw new Error(`Tenant "${path}" had ${attempt} conflicting updates in a row`);
    }
  }
}

const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
