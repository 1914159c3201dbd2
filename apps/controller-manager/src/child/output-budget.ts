/**
 * How much programs may print: each so much, and all together so much, so that no number of programs that print without end takes the
 * event loop from what programs are kept alive by. What counts is what is written, and something for every line: a line of nothing is
 * work, too.
 *
 * Whoever has spent its part waits for the next period, and all that wait get equal parts of that one first. So those that print a lot
 * share what there is, and one that prints a little waits for a quarter of a second at most.
 */

import type { Clock, Timer } from '@hangar/core';

export interface OutputLimits {
  /** In one period. */
  readonly each: number;
  readonly all: number;
}

const periodMs = 250;
const usualLimits: OutputLimits = { each: 256 * 1024, all: 1024 * 1024 };

/** What a line costs, besides what is in it. */
export const lineCost = 256;

export class OutputBudget {
  readonly #clock: Clock;
  readonly #limits: OutputLimits;
  readonly #waiting = new Set<OutputShare>();
  #left: number;
  #periodEndsMs = -Infinity;
  #timer: Timer | undefined;

  constructor(clock: Clock, limits: OutputLimits = usualLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#left = limits.all;
  }

  /** For one program. `resume` is called when something may be printed again, after `isSpent` was true. */
  share(resume: () => void): OutputShare {
    return new OutputShare(this, this.#limits.each, resume);
  }

  /** When this period ends, and what is left of it for those who have not waited for it. */
  now(): { readonly periodEndsMs: number; readonly left: number } {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#periodEndsMs && this.#waiting.size === 0) this.#begin(nowMs);
    return { periodEndsMs: this.#periodEndsMs, left: this.#left };
  }

  spend(cost: number): void {
    this.#left -= cost;
  }

  wait(share: OutputShare): void {
    this.#waiting.add(share);
    const restMs = Math.max(0, this.#periodEndsMs - this.#clock.monotonicMs());
    this.#timer ??= this.#clock.after(restMs, () => this.#serveWaiting());
  }

  forget(share: OutputShare): void {
    this.#waiting.delete(share);
    if (this.#waiting.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #begin(nowMs: number): void {
    this.#periodEndsMs = nowMs + periodMs;
    this.#left = this.#limits.all;
  }

  #serveWaiting(): void {
    this.#timer = undefined;
    this.#begin(this.#clock.monotonicMs());
    const waiting = [...this.#waiting];
    const part = Math.min(this.#limits.each, Math.floor(this.#limits.all / waiting.length));
    this.#left -= part * waiting.length;
    const served = waiting.filter((share) => share.grant(part, this.#periodEndsMs));
    for (const share of served) this.#waiting.delete(share);
    for (const share of this.#waiting) this.wait(share);
    for (const share of served) share.resume();
  }
}

export class OutputShare {
  readonly resume: () => void;
  readonly #budget: OutputBudget;
  readonly #each: number;
  #periodEndsMs = -Infinity;
  /** Below zero after a long line: that is paid first. */
  #left = 0;
  /** It has waited for what is left, which is nobody else's any more. */
  #isGranted = false;
  #isWaiting = false;

  constructor(budget: OutputBudget, each: number, resume: () => void) {
    this.#budget = budget;
    this.#each = each;
    this.resume = resume;
  }

  /** Nothing may be printed before `resume`. */
  isSpent(): boolean {
    if (this.#isWaiting) return true;
    const { periodEndsMs, left } = this.#budget.now();
    if (periodEndsMs !== this.#periodEndsMs) this.#enter(periodEndsMs, this.#each, false);
    if (this.#left > 0 && (this.#isGranted || left > 0)) return false;
    this.#isWaiting = true;
    this.#budget.wait(this);
    return true;
  }

  spend(cost: number): void {
    this.#left -= cost;
    if (!this.#isGranted) this.#budget.spend(cost);
  }

  /** Nothing is printed any more: `resume` is not called again. */
  close(): void {
    this.#budget.forget(this);
  }

  /** False: it has printed more before than this pays for. */
  grant(part: number, periodEndsMs: number): boolean {
    this.#enter(periodEndsMs, part, true);
    this.#isWaiting = this.#left <= 0;
    return !this.#isWaiting;
  }

  #enter(periodEndsMs: number, part: number, isGranted: boolean): void {
    this.#periodEndsMs = periodEndsMs;
    this.#left = Math.min(0, this.#left) + part;
    this.#isGranted = isGranted;
  }
}
