/** Simulates a controller: reconciles that take time and write, one at a time for each cluster, as long as it is owned. */

import { hasCode, sleep } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Scheduler } from '@hangar/core/simulation';
import type { Claim, Ownership } from '../../contract.ts';
import type { Checker, Hold, Work } from './checker.ts';
import type { PeerProcess } from './peer-process.ts';

export interface WorkerOptions {
  readonly world: Scheduler;
  readonly process: PeerProcess;
  readonly checker: Checker;
  readonly random: Random;
  readonly cluster: string;
  /** Maximum duration of a reconcile before its write, and after it. */
  readonly stepMaxMs: number;
  readonly idleMaxMs: number;
  /** Maximum time of a write between its check and its effect; below the margin. */
  readonly wireMaxMs: number;
  readonly onLapse: (process: PeerProcess) => void;
}

export class Worker implements Claim {
  readonly #options: WorkerOptions;
  #underWay = 0;
  #atRest: (() => void)[] = [];

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  acquired(ownership: Ownership): void {
    const { process, cluster, checker, onLapse } = this.#options;
    const hold: Hold = { process, cluster, ownership };
    checker.acquired(hold);
    ownership.signal.addEventListener('abort', () => {
      if (/was not renewed in time/.test(String(ownership.signal.reason))) onLapse(process);
    });
    void this.#work(hold);
  }

  released(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => this.#atRest.push(resolve));
  }

  async #work(hold: Hold): Promise<void> {
    const { process, checker, random, idleMaxMs } = this.#options;
    const { ownership } = hold;
    while (!ownership.signal.aborted) {
      try {
        ownership.check();
      } catch {
        return; // the signal is late
      }
      this.#underWay++;
      const work = checker.dispatched(hold);
      await this.#reconcile(work);
      checker.finished(work);
      if (--this.#underWay === 0) for (const resolve of this.#atRest.splice(0)) resolve();
      await sleep(process.clock, random.fraction() * idleMaxMs);
    }
  }

  async #reconcile(work: Work): Promise<void> {
    const { process, checker, random, stepMaxMs } = this.#options;
    await sleep(process.clock, random.fraction() * stepMaxMs);
    try {
      work.hold.ownership.check();
    } catch (error) {
      if (hasCode(error, 'Fenced')) return;
      throw error;
    }
    checker.wrote(work);
    await this.#onTheWire(work);
    await sleep(process.clock, (random.fraction() * stepMaxMs) / 2);
  }

  #onTheWire(work: Work): Promise<void> {
    const { world, process, checker, random, wireMaxMs } = this.#options;
    return new Promise((resolve) => {
      world.after(random.fraction() * wireMaxMs, () => {
        checker.landed(work);
        process.enter(resolve);
      });
    });
  }
}
