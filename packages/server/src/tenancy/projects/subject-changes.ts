/**
 * Records when the memberships of a user or a group changed last, and calls listeners. A client that resumes from an older revision must
 * list again. Subjects without a record have not changed since `#floor`. The number of records is limited: when it is exceeded, all are
 * dropped and all clients list again once.
 */

import type { Revision } from '@hangar/store';
import type { Subject } from './stored-objects.ts';

const recordsMax = 10_000;

export class SubjectChanges {
  readonly #max: number;
  readonly #changedAt = new Map<Subject, Revision>();
  readonly #listeners = new Map<Subject, Set<() => void>>();
  #floor = 0 as Revision;

  constructor(max = recordsMax) {
    this.#max = max;
  }

  /** Records a change of one subject. */
  of(subject: Subject, revision: Revision): void {
    if (this.#changedAt.size >= this.#max && !this.#changedAt.has(subject)) this.all(revision);
    else this.#changedAt.set(subject, revision);
    for (const listener of this.#listeners.get(subject) ?? []) listener();
  }

  /** Records that any subject may have changed up to this revision. */
  all(revision: Revision): void {
    this.#changedAt.clear();
    this.#floor = revision;
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener();
  }

  /** Reports whether one of the subjects may have changed after the revision. */
  since(subjects: Iterable<Subject>, revision: Revision): boolean {
    if (revision < this.#floor) return true;
    for (const subject of subjects) if ((this.#changedAt.get(subject) ?? 0) > revision) return true;
    return false;
  }

  /** Calls the listener with every change of the subjects. Returns a function that ends it. */
  follow(subjects: Iterable<Subject>, listener: () => void): () => void {
    const followed = [...subjects];
    for (const subject of followed) {
      const listeners = this.#listeners.get(subject);
      if (listeners) listeners.add(listener);
      else this.#listeners.set(subject, new Set([listener]));
    }
    return () => {
      for (const subject of followed) {
        const listeners = this.#listeners.get(subject);
        if (listeners?.delete(listener) && listeners.size === 0) this.#listeners.delete(subject);
      }
    };
  }
}
