/**
 * Keeps the view of a group up to date: list, then watch from there. When the watch closes, it restarts soon at first, and at the interval
 * of the renewals if it keeps breaking, which then is a poll.
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

  /** Called when the watch seems dead without an error. */
  restart(): void {
    this.#round?.abort();
  }

  /** Runs until the signal is aborted. Never rejects. */
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
      // Not awaited: a hanging call must not delay the next round.
      void Promise.resolve(events.return?.()).catch(() => {});
    }
  }
}
