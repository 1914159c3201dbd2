/**
 * Splits long work into short turns, with I/O between them. Jobs take turns, so that delivering a hundred thousand objects to one handler
 * does not delay the delivery of three to another.
 */

import type { Clock } from '@hangar/core';

export interface Job {
  /** Does a small part of the work. Returns false when it is complete. Never throws. */
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
    // Jobs without a turn go first.
    this.#jobs = [...jobs.slice(at), ...this.#jobs];
    this.#isScheduled = false;
    if (this.#jobs.length > 0) this.#schedule();
  };
}
