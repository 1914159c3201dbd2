/**
 * Requests of one tenant in the last one to two minutes, counted by their duration. Two slots of a minute alternate, and a slot is cleared
 * when it is used again: no timer runs, and a request costs one addition.
 *
 *     12:00        12:01        12:02  12:02:20
 *     ├─ slot 0 ───┼─ slot 1 ───┼─ slot 0 ─┤     counted: slot 1 and slot 0, 80 s
 *
 * The slots of all tenants begin at the same times, so the counts of tenants can be compared and subtracted.
 */

const slotMs = 60_000;
/** Upper bounds of durations. */
const boundsMs = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const;
/** For each slot: requests without a duration, one count for each bound, and longer ones. */
const countsLength = boundsMs.length + 2;
/** A percentile of fewer requests is left to chance. */
const measuredMin = 100;

export class RecentRequests {
  readonly #counts = new Uint32Array(2 * countsLength);
  #slot = 0;

  /** `durationMs`: absent for watches, which take as long as the client wants. */
  add(nowMs: number, durationMs: number | undefined): void {
    this.#turnTo(nowMs);
    const at = durationMs === undefined ? 0 : 1 + bucketOf(durationMs);
    this.#counts[(this.#slot & 1) * countsLength + at]!++;
  }

  /** Adds the counts of both slots to `into`. */
  addTo(into: RequestCounts, nowMs: number): void {
    this.#turnTo(nowMs);
    for (let i = 0; i < countsLength; i++) {
      into.counts[i]! += this.#counts[i]! + this.#counts[countsLength + i]!;
    }
  }

  #turnTo(nowMs: number): void {
    const slot = Math.floor(nowMs / slotMs);
    if (slot <= this.#slot) return;
    if (slot === this.#slot + 1) this.#counts.fill(0, (slot & 1) * countsLength, ((slot & 1) + 1) * countsLength);
    else this.#counts.fill(0);
    this.#slot = slot;
  }
}

/** Requests of one tenant or of many, by their duration. */
export class RequestCounts {
  readonly counts = new Float64Array(countsLength);

  perSecond(nowMs: number): number {
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    return total / ((slotMs + (nowMs % slotMs)) / 1_000);
  }

  /** Interpolates in the bucket of the percentile, as PromQL does. Undefined: too few requests. */
  p99Ms(): number | undefined {
    const total = this.counts.reduce((sum, count, at) => (at === 0 ? sum : sum + count), 0);
    if (total < measuredMin) return undefined;
    let rest = total * 0.99;
    for (const [i, bound] of boundsMs.entries()) {
      const count = this.counts[i + 1]!;
      const lower = i === 0 ? 0 : boundsMs[i - 1]!;
      if (rest <= count) return lower + ((bound - lower) * rest) / count;
      rest -= count;
    }
    return boundsMs.at(-1)!;
  }
}

function bucketOf(durationMs: number): number {
  const found = boundsMs.findIndex((bound) => durationMs <= bound);
  return found === -1 ? boundsMs.length : found;
}
