/** What happened, in order; and the first thing that must not have. */

import type { Scheduler } from '@hangar/core/simulation';

/**
 * exclusive: never two who may work on a cluster at the same instant. drained: nobody begins before the former has come to rest, unless
 * that one was declared dead. growing: tokens of writes never go back. live: soon after the last fault every cluster is worked on.
 * steady: nobody loses anything because of a single failure. balanced: shares are even.
 */
export type Property = 'exclusive' | 'drained' | 'growing' | 'live' | 'steady' | 'balanced';

export interface Violation {
  readonly property: Property;
  readonly message: string;
  /** Where in the trace. */
  readonly line: number;
}

export class Trace {
  readonly #world: Scheduler;
  readonly lines: string[] = [];
  violation: Violation | undefined;

  constructor(world: Scheduler) {
    this.#world = world;
  }

  note(text: string): void {
    this.lines.push(`${this.#world.monotonicMs().toFixed(1).padStart(9)} ms  ${text}`);
  }

  fail(property: Property, message: string): void {
    this.note(`VIOLATED ${property}: ${message}`);
    this.violation ??= { property, message, line: this.lines.length };
  }

  /** The last ones up to a line. */
  until(line: number, count: number): string[] {
    return this.lines.slice(Math.max(0, line - count), line);
  }
}
