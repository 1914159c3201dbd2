/** What one evaluation works on: the variables, what it has cost so far and what it may cost. */

import { Fault } from '../errors.ts';
import type { CelValue } from '../values/values.ts';
import { TimeLimit } from './time-limit.ts';

/** Characters or elements, a few milliseconds of work. */
const walkedMax = 1_000_000;

export class Frame {
  /** Variables first, then comprehension variables; JSON or CEL values, undefined when not bound. */
  readonly slots: unknown[];
  cost = 0;
  costLimit = Infinity;
  readonly #time = new TimeLimit();
  #interrupted = this.#time.isOver;
  #iterations = 0;
  #walked = 0;

  constructor(size: number) {
    this.slots = Array.from({ length: size });
  }

  /** `interrupted` is asked now and then; true stops the evaluation. Absent: it may take as long as any. */
  limitTime(interrupted: (() => boolean) | undefined): void {
    this.#time.begin();
    this.#interrupted = interrupted ?? this.#time.isOver;
  }

  charge(amount: number): void {
    if ((this.cost += amount) > this.costLimit) exceeded();
  }

  /** Called once per iteration, of whichever loop. */
  checkInterrupt(): void {
    if (++this.#iterations % 100 === 0) this.#ask();
  }

  /** Of work that costs one unit, as Kubernetes counts, and takes longer: then only time can stop it. */
  walk(length: number): void {
    if ((this.#walked += length) < walkedMax) return;
    this.#walked = 0;
    this.#ask();
  }

  #ask(): void {
    if (this.#interrupted()) throw new Fault('operation interrupted', 'Interrupted');
  }
}

function exceeded(): never {
  throw new Fault('operation cancelled: actual cost limit exceeded', 'CostLimitExceeded');
}

/** A compiled node. */
export type Code = (frame: Frame) => CelValue;
/** A compiled node that gives JSON as it is, where nobody needs it as a CEL value yet. */
export type RawCode = (frame: Frame) => unknown;
