/**
 * Limits the processor time and the memory that evaluations take. Kubernetes' costs limit neither: they are part of the API, and some calls
 * cost nothing regardless of their work.
 *
 * Functions report work before they do it: `work` takes an estimate in nanoseconds, `allocate` takes bytes. Both count against the budget
 * of the evaluation that runs; evaluations are synchronous, so there is at most one. The clock is only read after `lookEveryNs` of
 * estimated work, so that an evaluation of a few microseconds does not read it at all.
 *
 *     const budget = new WorkBudget(); // one for each request
 *     program.evaluate(bindings, { budget });
 *     await budget.rest(clock); // other requests run here when this one has run for a while
 *     other.evaluate(bindings, { budget });
 */

import { breathe, resumed } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { CelError, Fault } from './errors.ts';
import { requestBytesMax, requestMsMax, restAfterMs, sliceMsMax } from './limits.ts';

const lookEveryNs = 250_000;
/** A longer announced step is refused if the budget has less left. */
const longStepNs = 1_000_000;
const nsPerMs = 1_000_000;
const noLimit = 2 ** 30;

/** Approximate memory of an object, of an element of a list and of an entry of a map. */
export const nodeBytes = 64;
export const slotBytes = 16;
export const entryBytes = 96;

/**
 * Returns the processor time of this thread in milliseconds: load from elsewhere does not count against a request. Node 22 cannot
 * measure a thread. There it is the time of the process.
 */
export function threadCpuMs(): number {
  // The types are those of Node 26.
  const isPerThread = (process.threadCpuUsage as unknown) !== undefined;
  const { user, system } = isPerThread ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
}

export interface WorkLimits {
  /** Limit of all evaluations together. */
  readonly totalMs?: number;
  /** Limit between two rests. */
  readonly sliceMs?: number;
  readonly bytes?: number;
  /** Processor time, for tests. */
  readonly cpuMs?: () => number;
}

/** Remaining budget of the running evaluation. Small integers in one object, which are the cheapest to change. */
const meter: { budget: WorkBudget | undefined; leftNs: number; leftBytes: number } = {
  budget: undefined,
  /** Estimated work until the clock is read again. */
  leftNs: lookEveryNs,
  leftBytes: noLimit,
};

/** Reports work that is about to be done. Throws a `Fault` with code `Interrupted` if the budget is used up. */
export function work(nanoseconds: number): void {
  if ((meter.leftNs -= nanoseconds) < 0) look();
}

/** Reports memory that is about to be allocated, whether it is kept or not. */
export function allocate(bytes: number): void {
  if ((meter.leftBytes -= bytes) < 0) outOfMemory();
  work(bytes >> 2);
}

function look(): void {
  const overdraftNs = -meter.leftNs;
  meter.leftNs = lookEveryNs;
  meter.budget?.look(overdraftNs);
}

function outOfMemory(): void {
  if (meter.budget === undefined) {
    meter.leftBytes = noLimit;
    return;
  }
  const what = `expressions of this request take more than ${meter.budget.bytesMax / 1024 / 1024} MiB of memory`;
  throw new Fault(`operation interrupted: ${what}`, 'Interrupted');
}

export class WorkBudget {
  readonly bytesMax: number;
  readonly #totalMs: number;
  readonly #sliceMs: number;
  readonly #cpuMs: () => number;
  #spentMs = 0;
  #sliceSpentMs = 0;
  /** Time of the last clock read since `enter`; -1: none yet. */
  #lookedAtMs = -1;
  #leftNs = lookEveryNs;
  #leftBytes: number;

  constructor({ totalMs = requestMsMax, sliceMs = sliceMsMax, bytes = requestBytesMax, cpuMs }: WorkLimits = {}) {
    this.bytesMax = bytes;
    this.#totalMs = totalMs;
    this.#sliceMs = sliceMs;
    this.#cpuMs = cpuMs ?? threadCpuMs;
    this.#leftBytes = bytes;
  }

  /** Milliseconds of processor time since the last rest; an estimate below a quarter of one. */
  get sliceSpentMs(): number {
    return this.#sliceSpentMs;
  }

  /** Lets other requests run when this one has run for `restAfterMs` since it last did. Undefined: no need to wait. */
  rest(clock: Clock): Promise<void> | undefined {
    if (this.#sliceSpentMs < restAfterMs) return undefined;
    return this.restNow(clock);
  }

  /** Lets other requests run. */
  restNow(clock: Clock): Promise<void> {
    return breathe(clock).then(() => resumed(void (this.#sliceSpentMs = 0)));
  }

  /** Runs code that uses values of completed evaluations. Throws `CelError` when the budget is used up. */
  run<Result>(compute: () => Result): Result {
    return withBudget(this, compute);
  }

  /** Resets the spent time: for a budget that serves one evaluation after the other. */
  reset(): void {
    this.#spentMs = 0;
    this.#sliceSpentMs = 0;
    this.#leftBytes = this.bytesMax;
  }

  begin(): void {
    this.#lookedAtMs = -1;
    meter.leftNs = this.#leftNs;
    meter.leftBytes = this.#leftBytes;
  }

  /** Counts the measured time, or the estimate if the evaluation was too short to be measured. */
  end(): void {
    if (this.#lookedAtMs !== -1) this.#count(this.#cpuMs() - this.#lookedAtMs);
    else if (meter.leftNs < 0) this.#count((lookEveryNs - meter.leftNs) / nsPerMs);
    this.#leftNs = this.#lookedAtMs !== -1 || meter.leftNs < 0 ? lookEveryNs : meter.leftNs;
    this.#leftBytes = meter.leftBytes;
  }

  look(overdraftNs: number): void {
    const nowMs = this.#cpuMs();
    this.#count(this.#lookedAtMs === -1 ? lookEveryNs / nsPerMs : nowMs - this.#lookedAtMs);
    this.#lookedAtMs = nowMs;
    const problem = this.problem(overdraftNs > longStepNs ? overdraftNs / nsPerMs : 0);
    if (problem !== undefined) throw new Fault(problem, 'Interrupted');
  }

  get isSpent(): boolean {
    return this.#sliceSpentMs > this.#sliceMs || this.#spentMs > this.#totalMs;
  }

  /** Less than one slice is left: an interrupted computation needs a new budget, not a rest. */
  get isExhausted(): boolean {
    return this.#spentMs + this.#sliceMs > this.#totalMs || this.#leftBytes < 0;
  }

  /** Returns why work of this length exceeds the budget; undefined if it does not. */
  problem(aheadMs: number): string | undefined {
    if (this.#sliceSpentMs + aheadMs > this.#sliceMs)
      return `operation interrupted: evaluation takes more than ${this.#sliceMs} ms of CPU time`;
    if (this.#spentMs + aheadMs > this.#totalMs)
      return `operation interrupted: expressions of this request take more than ${this.#totalMs} ms of CPU time`;
    return undefined;
  }

  #count(passedMs: number): void {
    this.#spentMs += passedMs;
    this.#sliceSpentMs += passedMs;
  }
}

/** For evaluations without a budget: one at a time, each with all of it. */
const unshared = new WorkBudget();

/**
 * Makes this budget current; absent: keeps the current one. Returns the previous budget, for `leave`. Throws `CelError` when the
 * budget is used up.
 */
export function enter(given: WorkBudget | undefined): WorkBudget | undefined {
  const outer = meter.budget;
  const next = given ?? outer ?? unshared;
  if (next === outer) return outer;
  if (next === unshared) unshared.reset();
  else if (next.isSpent) throw new CelError('Interrupted', next.problem(0)!);
  outer?.end();
  meter.budget = next;
  next.begin();
  return outer;
}

/** `unreportedNs`: estimated work that was done without reporting it. */
export function leave(outer: WorkBudget | undefined, unreportedNs = 0): void {
  meter.leftNs -= unreportedNs;
  if (meter.budget === outer) return;
  meter.budget!.end();
  meter.budget = outer;
  if (outer !== undefined) outer.begin();
  else meter.leftBytes = noLimit;
}

/** Absent: the current budget, or a separate one. */
export function withBudget<Result>(budget: WorkBudget | undefined, compute: () => Result): Result {
  const outer = enter(budget);
  try {
    return compute();
  } catch (thrown) {
    throw asCelError(thrown);
  } finally {
    leave(outer);
  }
}

/** Converts failures of evaluations to `CelError`. Returns other errors unchanged. */
export function asCelError(thrown: unknown, cost = 0): unknown {
  if (thrown instanceof Fault) return new CelError(thrown.code, thrown.message, [], { cost });
  // A text too long for the engine, or data nested deeper than its stack.
  if (thrown instanceof RangeError)
    return new CelError('Evaluation', 'value too large or too deep', [], { cause: thrown, cost });
  return thrown;
}
