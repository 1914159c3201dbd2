/**
 * Replays the requests of local watches for clusters that are engaged later. Clusters that are engaged together share one iteration over
 * the local objects: thousands of clusters at a start, each with a separate iteration over thousands of objects, would take minutes.
 */

import { asError, breathe, sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { ClusterName } from '../cluster.ts';
import { inTurns } from '../in-turns.ts';
import type { RequestLike } from './options.ts';

export interface LocalReplayOptions {
  readonly clock: Clock;
  /** Returns the requests of all local objects for all clusters. Consumed over several turns. */
  everything(): Iterable<RequestLike>;
  enqueue(request: RequestLike): void;
  onFailure(error: Error): void;
}

const stepsPerTurn = 200;
/** Pause between two iterations. */
const pauseMs = 100;

export class LocalReplay {
  readonly #options: LocalReplayOptions;
  #waiting = new Set<ClusterName>();
  #isRunning = false;

  constructor(options: LocalReplayOptions) {
    this.#options = options;
  }

  /** Asynchronous: enqueues nothing before it returns. */
  tell(cluster: ClusterName): void {
    this.#waiting.add(cluster);
    if (!this.#isRunning) void this.#run();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { clock, onFailure } = this.#options;
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      await breathe(clock);
      const clusters = this.#waiting;
      this.#waiting = new Set();
      try {
        await this.#read(clusters);
      } catch (error) {
        onFailure(asError(error));
      }
      await sleep(clock, pauseMs);
    }
    this.#isRunning = false;
  }

  async #read(clusters: ReadonlySet<ClusterName>): Promise<void> {
    const { clock, everything, enqueue } = this.#options;
    await inTurns({ clock, atOnce: stepsPerTurn }, everything(), (request) => {
      if (request.cluster !== undefined && clusters.has(request.cluster)) enqueue(request);
    });
  }
}
