/** What one evaluation works on: the variables, what it has cost so far and what it may cost. */

import { Fault } from '../errors.ts';
import type { CelValue } from '../values/values.ts';

export class Frame {
  /** Variables first, then comprehension variables; JSON or CEL values, undefined when not bound. */
  readonly slots: unknown[];
  cost = 0;
  costLimit = Infinity;
  /** Asked now and then; true stops the evaluation. */
  interrupted: (() => boolean) | undefined;

  constructor(size: number) {
    this.slots = Array.from({ length: size });
  }

  charge(amount: number): void {
    if ((this.cost += amount) > this.costLimit) exceeded();
  }

  /** Called once per loop iteration; `count` spares most of the calls. */
  checkInterrupt(count: number): void {
    if (count % 100 === 99 && this.interrupted?.()) throw new Fault('operation interrupted', 'Interrupted');
  }
}

function exceeded(): never {
  throw new Fault('operation cancelled: actual cost limit exceeded', 'CostLimitExceeded');
}

/** A compiled node. */
export type Code = (frame: Frame) => CelValue;
/** A compiled node that gives JSON as it is, where nobody needs it as a CEL value yet. */
export type RawCode = (frame: Frame) => unknown;
