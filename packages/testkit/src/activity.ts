/**
 * Reports when controllers in the process of a test are idle, so that a test can assert that nothing else happens, or set a clock forward.
 *
 *     const activity = new Activity();
 *     const manager = new Manager({ client: new RestClient(activity.watched(cluster.transportOf())) });
 *     activity.add(manager.registry);
 *     await activity.idle();
 */

import type { HttpTransport } from '@hangar/client';
import { sleep, systemClock } from '@hangar/core';

/** Metrics of a manager, in the text format of Prometheus. */
interface Metrics {
  text(): string;
}

/** An event of the server is delivered and enqueued within one of these turns of the event loop. */
const idleTurns = 4;
const turnMs = 10;
/** Items in queues, without those that wait for a delay, and workers that run a reconcile. */
const isWorking = /^(workqueue_depth|controller_runtime_active_workers)(\{.*\})? (?!0$)/m;

export class Activity {
  readonly #metrics = new Set<Metrics>();
  #started = 0;
  #pending = 0;

  /** Returns a transport whose requests count until their answer begins. */
  watched(transport: HttpTransport): HttpTransport {
    return {
      request: (request) => {
        this.#started++;
        this.#pending++;
        return transport.request(request).finally(() => this.#pending--);
      },
      close: () => transport.close(),
    };
  }

  /** Includes the controllers of a manager. */
  add(metrics: Metrics): void {
    this.#metrics.add(metrics);
  }

  /** Excludes the controllers of a manager that was stopped. */
  delete(metrics: Metrics): void {
    this.#metrics.delete(metrics);
  }

  /**
   * Resolves when no request is in progress, no worker runs, and no item is in a queue, for several turns of the event loop. Items that wait
   * for a delay do not count.
   */
  async idle(): Promise<void> {
    for (let turns = 0, seen = this.#started; turns < idleTurns; turns++) {
      await sleep(systemClock, turnMs);
      if (seen === this.#started && !this.#isBusy()) continue;
      seen = this.#started;
      turns = -1;
    }
  }

  #isBusy(): boolean {
    return this.#pending > 0 || Array.from(this.#metrics).some((one) => isWorking.test(one.text()));
  }
}
