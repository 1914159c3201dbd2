/** The newest known revisions of the store, from the header of every answer. */

import type { Revision } from '../../contract.ts';

export class Revisions {
  #newest = 0 as Revision;
  #compacted = 0 as Revision;
  readonly #onNewer: (revision: Revision) => void;

  constructor(onNewer: (revision: Revision) => void) {
    this.#onNewer = onNewer;
  }

  /** The newest revision seen; the store may be ahead. */
  get newest(): Revision {
    return this.#newest;
  }

  /** The newest compaction seen; another client may have compacted further. */
  get compacted(): Revision {
    return this.#compacted;
  }

  saw(revision: Revision): void {
    if (revision <= this.#newest) return;
    this.#newest = revision;
    this.#onNewer(revision);
  }

  sawCompacted(revision: Revision): void {
    if (revision > this.#compacted) this.#compacted = revision;
    this.saw(revision);
  }
}
