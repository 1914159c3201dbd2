/** Violations as they are found. One mistake has many consequences; the earliest one says most about it. */

import { Violation } from './violation.ts';

export class Findings {
  #earliest: Violation | undefined;

  get earliest(): Violation | undefined {
    return this.#earliest;
  }

  /** Runs one check; a violation that it throws is kept, and the next check goes on. */
  check(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.add(error);
    }
  }

  add(violation: Violation): void {
    if (!this.#earliest || violation.line < this.#earliest.line) this.#earliest = violation;
  }
}
