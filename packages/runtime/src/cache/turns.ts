/**
 * Long work in short turns: between two of them, input and output get through. All who have some take turns, so that telling one
 * handler of a hundred thousand objects does not delay telling another of three.
 */

import type { Clock } from '@hangar/core';

export interface Job {
  /** Does a little; false: that was all of it. Never throws. */
  step(): boolean;
}

const stepsPerTurn = 1_000;
const stepsAtOnce = 100;

export class Turns {
  readonly #clock: Clock;
  #jobs: Job[] = [];
  #isScheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(job: Job): void {
    this.#jobs.push(job);
    if (!this.#isScheduled) this.#schedule();
  }

  #schedule(): void {
    this.#isScheduled = true;
    this.#clock.soon(this.#turn);
  }

  readonly #turn = (): void => {
    const jobs = this.#jobs;
    this.#jobs = [];
    let steps = 0;
    let at = 0;
    for (; at < jobs.length && steps < stepsPerTurn; at++) {
      const job = jobs[at]!;
      let hasMore = true;
      for (let done = 0; hasMore && done < stepsAtOnce; done++, steps++) hasMore = job.step();
      if (hasMore) this.#jobs.push(job);
    }
    // Who had no turn goes first.
    this.#jobs = [...jobs.slice(at), ...this.#jobs];
    this.#isScheduled = false;
    if (this.#jobs.length > 0) this.#schedule();
  };
}
