/**
 * Keeps a group's view up to date: list, then watch from there; again when the watch ends, soon at first, at the pace of the
 * renewals when it keeps breaking, which then is a poll.
 */

import { hasCode, orAborted, sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { bounded } from '../../bounded.ts';
import type { GroupView } from './group-view.ts';
import type { Leases } from './leases.ts';
import type { ShardTimings } from './timings.ts';

export interface ViewLoopOptions {
  readonly leases: Leases;
  readonly view: GroupView;
  readonly timings: ShardTimings;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly onView: () => void;
}

const pauseMinMs = 50;

export class ViewLoop {
  readonly #options: ViewLoopOptions;
  #round: AbortController | undefined;

  constructor(options: ViewLoopOptions) {
    this.#options = options;
  }

  /** The watch seems to be dead, though nobody said so. */
  restart(): void {
    this.#round?.abort();
  }

  /** Until the signal; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, timings, log } = this.#options;
    let pauseMs = pauseMinMs;
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      const round = new AbortController();
      const onAbort = (): void => round.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#round = round;
      try {
        await this.#follow(round.signal);
      } catch (error) {
        if (!hasCode(error, 'Aborted')) log?.debug('the watch of the leases was closed', { error });
      } finally {
        signal.removeEventListener('abort', onAbort);
        round.abort();
      }
      const lastedMs = clock.monotonicMs() - startedMs;
      pauseMs = lastedMs > timings.renewEveryMs ? pauseMinMs : Math.min(pauseMs * 2, timings.renewEveryMs);
      await sleep(clock, pauseMs, signal).catch(() => {});
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { leases, view, timings, clock, onView } = this.#options;
    const bound = { clock, timeoutMs: timings.requestTimeoutMs, signal };
    const { items, resourceVersion } = await bounded(bound, (signal) => leases.list(signal));
    view.replace(items);
    onView();
    const events = leases.watch(resourceVersion, signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await orAborted(events.next(), signal);
        if (next.done) return;
        view.apply(next.value);
        onView();
      }
    } finally {
      // Not waited for: what hangs must not hold up the next round.
      void Promise.resolve(events.return?.()).catch(() => {});
    }
  }
}
