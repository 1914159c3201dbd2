/**
 * Limits the output of programs, each and in total, so that programs that print without end cannot block the event loop, which also sends
 * the heartbeats of programs. Counts bytes, plus a fixed cost per line: an empty line is work, too.
 *
 * A program that has spent its share waits for the next period, and all waiting programs get equal parts of that period first. So programs
 * that print a lot share the total, and one that prints a little waits for at most a quarter of a second.
 */

import type { Clock, Timer } from '@hangar/core';

export interface OutputLimits {
  /** Per period. */
  readonly each: number;
  readonly all: number;
}

const periodMs = 250;
const usualLimits: OutputLimits = { each: 256 * 1024, all: 1024 * 1024 };

/** Cost of a line besides its bytes. */
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

  /** Returns the share of one program. `resume` is called when it may print again, after `isSpent` was true. */
  share(resume: () => void): OutputShare {
    return new OutputShare(this, this.#limits.each, resume);
  }

  /** Returns the end of this period, and the budget that is left for programs that have not waited. */
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
  /** Negative after a long line; the debt is paid first. */
  #left = 0;
  /** The remaining budget was granted to it after a wait, and is reserved for it. */
  #isGranted = false;
  #isWaiting = false;

  constructor(budget: OutputBudget, each: number, resume: () => void) {
    this.#budget = budget;
    this.#each = each;
    this.resume = resume;
  }

  /** Reports whether it must not print before `resume`. */
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

  /** Ends the output: `resume` is not called again. */
  close(): void {
    this.#budget.forget(this);
  }

  /** Returns false if the grant does not cover earlier output. */
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
