/**
 * Times at which the addons of dedicated control planes are applied again. Their API servers do not report changes to the operator, and a
 * watch for each of them would keep one connection per control plane open, so changes inside are repaired by a resync: one connection and
 * one request for each object, every ten minutes, with the concurrency of the controller. Control planes without addons have no resync.
 *
 * The times are spread, also after a restart of the operator: they are not stored, and the first one is drawn from the whole interval.
 */

import type { Clock, Random } from '@hangar/core';

export const addonResyncIntervalMs = 10 * 60_000;
/** Share of the interval by which a time differs from it. */
const spread = 0.1;

export interface AddonResyncOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'fraction'>;
  /** Absent: ten minutes. */
  readonly intervalMs?: number | undefined;
}

export class AddonResync {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #random: Pick<Random, 'fraction'>;
  readonly #intervalMs: number;
  /** By control plane. */
  readonly #dueAtMs = new Map<string, number>();

  constructor({ clock, random, intervalMs = addonResyncIntervalMs }: AddonResyncOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#intervalMs = intervalMs;
  }

  /** Returns the time of the next resync, in milliseconds since 1970. */
  dueAtMs(controlPlane: string): number {
    const known = this.#dueAtMs.get(controlPlane);
    if (known !== undefined) return known;
    const atMs = this.#clock.now() + this.#intervalMs * this.#random.fraction();
    this.#dueAtMs.set(controlPlane, atMs);
    return atMs;
  }

  /** Called when the addons were applied, or refused. */
  done(controlPlane: string): void {
    const factor = 1 - spread + 2 * spread * this.#random.fraction();
    this.#dueAtMs.set(controlPlane, this.#clock.now() + this.#intervalMs * factor);
  }

  /** Called when it has no addons, or is deleted. */
  forget(controlPlane: string): void {
    this.#dueAtMs.delete(controlPlane);
  }
}
