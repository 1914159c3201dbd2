/** The state of one evaluation: its variables, and its cost so far, as Kubernetes counts it. */

import { Fault } from '../errors.ts';
import type { CelValue } from '../values/values.ts';
import { work } from '../work.ts';

/** The actual work is compared with its budget at the latest after this cost. */
const costBetweenLooks = 10_000;
/** Evaluating a node costs about one unit and takes about this long. */
const nsPerCost = 25;
const nsPerIteration = 20;

export class Frame {
  /** Variables first, then comprehension variables; JSON or CEL values, undefined when not bound. */
  readonly slots: unknown[];
  cost = 0;
  #costLimit = Infinity;
  /** The limit, or the cost at which work is reported again. */
  #stopAt = Infinity;
  #reported = 0;

  constructor(size: number) {
    this.slots = Array.from({ length: size });
  }

  begin(costLimit: number): void {
    this.cost = 0;
    this.#reported = 0;
    this.#costLimit = costLimit;
    this.#stopAt = Math.min(costLimit, costBetweenLooks);
  }

  /** Estimate of the work that is done but not reported yet. */
  get unreportedNs(): number {
    return (this.cost - this.#reported) * nsPerCost;
  }

  charge(amount: number): void {
    if ((this.cost += amount) > this.#stopAt) this.#stop();
  }

  /** Reports one iteration of any loop: some iterations cost nothing. */
  iterate(): void {
    work(nsPerIteration);
  }

  #stop(): void {
    if (this.cost > this.#costLimit)
      throw new Fault('operation cancelled: actual cost limit exceeded', 'CostLimitExceeded');
    work(this.unreportedNs);
    this.#reported = this.cost;
    this.#stopAt = Math.min(this.#costLimit, this.cost + costBetweenLooks);
  }
}

/** A compiled node. */
export type Code = (frame: Frame) => CelValue;
/** A compiled node that returns unconverted JSON, if a CEL value is not needed yet. */
export type RawCode = (frame: Frame) => unknown;
