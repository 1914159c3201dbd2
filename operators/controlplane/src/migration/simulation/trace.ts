/** The events of a simulated world in order, and the first violation. */

import type { Scheduler } from '@hangar/core/simulation';

/**
 * exclusive: at most one side is writable at any instant. kept: every acknowledged write is in the final data, once, at its revision.
 * growing: a write that starts after another was acknowledged has a higher revision. live: after the last fault, the wanted mode serves, and
 * requests succeed.
 */
export type Property = 'exclusive' | 'kept' | 'growing' | 'live';

export interface Violation {
  readonly property: Property;
  readonly message: string;
  /** Line in the trace. */
  readonly line: number;
}

export class Trace {
  readonly #scheduler: Scheduler;
  readonly lines: string[] = [];
  violation: Violation | undefined;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  note(text: string): void {
    this.lines.push(`${this.#scheduler.monotonicMs().toFixed(0).padStart(8)} ms  ${text}`);
  }

  fail(property: Property, message: string): void {
    this.note(`VIOLATED ${property}: ${message}`);
    this.violation ??= { property, message, line: this.lines.length };
  }

  /** Returns the last lines up to a line. */
  until(line: number, count: number): string[] {
    return this.lines.slice(Math.max(0, line - count), line);
  }
}
