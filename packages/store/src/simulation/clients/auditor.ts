/**
 * Reads everything of a universe at once and continuously: the state when a store was opened, then every change. Its records show the
 * checks the outcome of transactions without an answer. It is a client like the others, and checked like them.
 */

import type { Revision } from '../../contract.ts';
import { firstRevision } from '../../engine/rows.ts';
import type { RecordedWatch } from '../recorded-watch.ts';
import type { Failure } from '../records.ts';
import type { Session } from '../session.ts';

export class Auditor {
  /** Everything before this was seen; kept across restarts of the process. */
  #position: Revision;
  #watch: RecordedWatch | undefined;
  #ended = false;
  #waiting: { to: Revision; resolve: () => void }[] = [];

  constructor() {
    this.#position = (firstRevision + 1) as Revision;
  }

  /** Called before anything else in a new life. */
  async look(session: Session): Promise<void> {
    await session.range('auditor', session.universe.all, { recovery: true });
  }

  async run(session: Session): Promise<void> {
    this.#waiting = [];
    this.#ended = false;
    for (let resumed = session.life.number > 0; !this.#ended; resumed = false) {
      const end = await this.#follow(session, resumed);
      // The compacted part holds nothing unseen of this universe: only other universes have changed since.
      if (end?.compactedRevision !== undefined) this.#position = (end.compactedRevision + 1) as Revision;
      else this.#ended = true;
    }
    this.#settle();
  }

  async #follow(session: Session, resumed: boolean): Promise<Failure | undefined> {
    const { widestPrefix: prefix } = session.universe;
    this.#watch = session.watch('auditor', { prefix, from: this.#position, previous: true, resumed });
    if (this.#waiting.length > 0) this.#watch.requestProgress();
    for (;;) {
      const batch = await this.#watch.next();
      if (!batch || 'code' in batch) return batch;
      this.#position = (batch.revision + 1) as Revision;
      this.#settle();
    }
  }

  #settle(): void {
    this.#waiting = this.#waiting.filter((waiting) => {
      if (waiting.to >= this.#position && !this.#ended) return true;
      waiting.resolve();
      return false;
    });
  }

  /** Resolves when everything up to `revision` was seen, or when the store was closed. */
  reached(revision: Revision): Promise<void> {
    if (revision < this.#position || this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ to: revision, resolve });
      this.#watch?.requestProgress();
    });
  }
}
