/**
 * The newest revisions that the shared watch brought, kept within a bound. It serves a watch that begins a little in the past (a list, then
 * a watch from there) or whose consumer paused; only older ones read from etcd, which takes a separate watch and up to a tenth of a second
 * for each thousand revisions.
 *
 *     covered:  from ≤ revision ≤ hub.revision          (41, 43 touched nothing here)
 *     kept:     [40] [42] [44]   add 45 →   [42] [44] [45], from = 41
 */

import type { Revision, WatchBatch, WatchOptions } from '../../contract.ts';
import type { HistoryPage } from '../../engine/hub.ts';
import type { WatchedRevision } from './watched-revision.ts';

const pageLength = 1_000;

export class RecentHistory {
  readonly #bytesMax: number;
  #kept: WatchedRevision[] = [];
  #bytes = 0;
  #from: Revision;

  constructor(bytesMax: number, from: Revision) {
    this.#bytesMax = bytesMax;
    this.#from = from;
  }

  /** The first revision that is covered. */
  get from(): Revision {
    return this.#from;
  }

  add(revision: WatchedRevision): void {
    this.#kept.push(revision);
    this.#bytes += revision.bytes;
    if (this.#bytes > this.#bytesMax) this.#dropOldest();
  }

  /** Requires `fromRevision ≥ from`, and `to` not beyond the added revisions. */
  read(span: Required<WatchOptions> & { to: Revision }): HistoryPage {
    const batches: WatchBatch[] = [];
    const start = this.#placeOf(span.fromRevision);
    for (let place = start; place < this.#kept.length; place++) {
      const kept = this.#kept[place]!;
      if (kept.revision > span.to) break;
      if (place - start === pageLength) return { batches, next: kept.revision };
      const events = kept.eventsUnder(span.prefix, span.previous);
      if (events) batches.push({ revision: kept.revision, events });
    }
    return { batches, next: (span.to + 1) as Revision };
  }

  /** More than necessary, so that the array is moved once for many additions. */
  #dropOldest(): void {
    let dropped = 0;
    while (this.#bytes > this.#bytesMax * 0.75 && dropped < this.#kept.length) {
      const oldest = this.#kept[dropped++]!;
      this.#bytes -= oldest.bytes;
      this.#from = (oldest.revision + 1) as Revision;
    }
    this.#kept = this.#kept.slice(dropped);
  }

  /** Returns the index of the first kept revision that is not smaller. */
  #placeOf(revision: Revision): number {
    let low = 0;
    let high = this.#kept.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#kept[middle]!.revision < revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
