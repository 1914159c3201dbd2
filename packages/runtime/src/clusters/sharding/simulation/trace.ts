/** The events in order, and the first violation. */

import type { Scheduler } from '@hangar/core/simulation';

/**
 * exclusive: at most one peer may work on a cluster at any instant. drained: no peer starts before the former one has drained, unless that
 * one was declared dead. growing: tokens of writes never decrease. live: soon after the last fault every cluster has an owner. steady: a
 * single failure costs no peer its clusters. balanced: shares are even.
 */
export type Property = 'exclusive' | 'drained' | 'growing' | 'live' | 'steady' | 'balanced';

export interface Violation {
  readonly property: Property;
  readonly message: string;
  /** Line in the trace. */
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

  /** Returns the last lines up to a line. */
  until(line: number, count: number): string[] {
    return this.lines.slice(Math.max(0, line - count), line);
  }
}
