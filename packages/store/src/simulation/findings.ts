/** Collects violations. One defect has many consequences; the earliest one is the most specific. */

import { Violation } from './violation.ts';

export class Findings {
  #earliest: Violation | undefined;

  get earliest(): Violation | undefined {
    return this.#earliest;
  }

  /** Runs one check. Keeps a violation that it throws, and continues with the next check. */
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
