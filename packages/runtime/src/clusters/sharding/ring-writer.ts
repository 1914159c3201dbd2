/**
 * Writes the required ring with compare-and-set. All peers propose the same change: the peer concerned goes first, the others follow one
 * after the other, and usually find it done.
 */

import { hasCode } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { Alarm } from './alarm.ts';
import { bounded } from '../../bounded.ts';
import { leaseSpec } from './lease-spec.ts';
import { ringAnnotation } from './leases.ts';
import type { Leases } from './leases.ts';
import type { Proposal, RingNeed } from './membership.ts';
import type { SeenRing } from './group-view.ts';
import { encodeRing } from './ring.ts';
import type { ShardTimings } from './timings.ts';

export interface RingWriterOptions {
  readonly leases: Leases;
  readonly ringName: string;
  readonly timings: ShardTimings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger | undefined;
  readonly signal: AbortSignal;
  readonly holder: string;
  /** Returns undefined if there is nothing to do, or this peer may not do it now. */
  readonly propose: () => Proposal | undefined;
  readonly seen: () => SeenRing | undefined;
  /** Index among the members; the first is 0. */
  readonly rank: () => number;
  readonly onWrite: () => void;
}

const turnMs = 60;
const retryMs = 250;

export class RingWriter {
  readonly #options: RingWriterOptions;
  readonly #alarm: Alarm;
  /** Checks again if the view does not show the write. */
  readonly #recheck: Alarm;
  #need: RingNeed | undefined;
  #isBusy = false;
  #isNews = false;

  constructor(options: RingWriterOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock, () => void this.#write());
    this.#recheck = new Alarm(options.clock, () => this.onView());
    const onAbort = (): void => {
      this.#alarm.cancel();
      this.#recheck.cancel();
    };
    options.signal.addEventListener('abort', onAbort, { once: true });
  }

  onView(): void {
    this.#isNews = true;
    const need = this.#options.propose()?.need;
    if (need !== this.#need) this.#alarm.cancel();
    this.#need = need;
    if (need !== undefined && !this.#isBusy && !this.#options.signal.aborted) this.#alarm.within(this.#delayMs(need));
  }

  #delayMs(need: RingNeed): number {
    const { timings, random, rank } = this.#options;
    const turn = rank() * turnMs;
    switch (need) {
      case 'leave':
        return 0;
      case 'remove':
        return turn;
      case 'repair':
      case 'join':
        return timings.joinDelayMs * (1 + random.fraction() / 2);
      case 'admit':
        return timings.joinDelayMs * 3 + turn;
      case 'balance':
        return timings.renewEveryMs * 2 + turn * 10;
      case 'forget':
        return timings.renewEveryMs * 4 + turn * 10;
    }
  }

  async #write(): Promise<void> {
    const { clock, timings, signal, leases, ringName, holder, onWrite, log } = this.#options;
    const proposal = this.#options.propose();
    if (!proposal || this.#isBusy || signal.aborted) return;
    this.#isBusy = true;
    const resourceVersion = this.#options.seen()?.resourceVersion;
    let recheckInMs: number = timings.requestTimeoutMs;
    this.#isNews = false;
    onWrite();
    try {
      await bounded({ clock, timeoutMs: timings.requestTimeoutMs, signal }, (signal) =>
        leases.write(
          {
            name: ringName,
            ...(resourceVersion === undefined ? {} : { resourceVersion }),
            annotations: { [ringAnnotation]: encodeRing(proposal.ring) },
            spec: leaseSpec({ holder, leaseMs: timings.leaseMs, wallMs: clock.now() }),
          },
          signal,
        ),
      );
      const { epoch, members } = proposal.ring;
      log?.info('updating the ring', { need: proposal.need, epoch, members: members.map(({ name }) => name) });
    } catch (error) {
      // Conflict: another peer was faster, and the view will show it.
      if (!hasCode(error, 'Conflict') && !hasCode(error, 'AlreadyExists') && !signal.aborted) {
        log?.warn('failed to update the ring', { need: proposal.need, error });
        recheckInMs = retryMs;
      }
    } finally {
      this.#isBusy = false;
      this.#need = undefined;
      if (!signal.aborted) this.#recheck.within(recheckInMs);
      if (this.#isNews) this.onView();
    }
  }
}
