/** A right that a test gives and takes. */

import { RuntimeError } from '@hangar/runtime';
import type { Ownership } from '@hangar/runtime/clusters';

export class TestOwnership implements Ownership {
  readonly token = 1;
  readonly #ending = new AbortController();
  leftMs = Infinity;

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  check(): void {
    if (this.leftMs <= 0) throw new RuntimeError('Fenced', 'the test has taken it');
  }

  remainingMs(): number {
    return this.leftMs;
  }

  /** No new work may start; work in progress may complete. */
  retire(): void {
    this.#ending.abort();
  }
}
