/**
 * Calls of one operator to the other programs. A call takes effect up to `effectMsMax` after it was sent, also if its caller has given up or
 * has crashed; it can be lost, its answer can be lost, and it can take effect twice.
 */

import { attempted, chance, CodedError, orAborted, sleep } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Scheduler } from '@hangar/core/simulation';

export type Peer = 'records' | 'tenant' | 'dedicated';

export interface LinkQuality {
  readonly latencyMaxMs: number;
  /** Probability that a call takes much longer than usual. */
  readonly slowRate: number;
  readonly lossRate: number;
  readonly repeatRate: number;
}

export const goodLink: LinkQuality = { latencyMaxMs: 8, slowRate: 0, lossRate: 0, repeatRate: 0 };

export class Link {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #effectMsMax: number;
  quality: LinkQuality;
  readonly cut = new Set<Peer>();
  isDead = false;
  /** Calls take effect at once: for tests with a real clock. */
  isDirect = false;

  constructor(
    scheduler: Scheduler,
    random: Random,
    options: { readonly quality: LinkQuality; readonly effectMsMax: number },
  ) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.quality = options.quality;
    this.#effectMsMax = options.effectMsMax;
  }

  call<T>(peer: Peer, signal: AbortSignal | undefined, effect: () => T): Promise<T> {
    if (this.isDead) return new Promise(() => {});
    if (this.isDirect) return attempted(effect);
    return orAborted(this.#transmitted(peer, effect), signal);
  }

  async #transmitted<T>(peer: Peer, effect: () => T): Promise<T> {
    const { lossRate, repeatRate } = this.quality;
    await this.#pause();
    if (this.cut.has(peer) || chance(this.#random, lossRate)) throw lost(peer);
    const result = effect();
    if (chance(this.#random, repeatRate)) this.#repeat(effect);
    await sleep(this.#scheduler, this.#random.fraction() * this.quality.latencyMaxMs);
    if (this.isDead) return new Promise(() => {});
    if (this.cut.has(peer) || chance(this.#random, lossRate)) throw lost(peer);
    return result;
  }

  async #pause(): Promise<void> {
    const { latencyMaxMs, slowRate } = this.quality;
    const maxMs = chance(this.#random, slowRate) ? this.#effectMsMax / 2 : latencyMaxMs;
    await sleep(this.#scheduler, this.#random.fraction() * maxMs);
  }

  #repeat(effect: () => unknown): void {
    this.#scheduler.after((this.#random.fraction() * this.#effectMsMax) / 2, () => {
      try {
        effect();
      } catch {
        // A repeated call that is refused has no effect.
      }
    });
  }
}

const lost = (peer: Peer): CodedError => new CodedError('ConnectionLost', `connection to ${peer} lost`);
