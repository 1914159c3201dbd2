/** Reads a range as of one revision, page by page. It yields to the event loop between pages and within them. */

import { giveWay } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { successor } from '@hangar/store';
import type { Entry, KeyRange, Revision, Store } from '@hangar/store';

export interface ScanOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly at: Revision;
  readonly signal: AbortSignal;
  /** See `FeedListener`. */
  readonly ready: () => Promise<void> | undefined;
}

const pageEntries = 250;
const sliceMs = 4;

/**
 * `tell` may return a key at which to continue; entries before it are skipped. Returns early when the signal fires. Rejects with
 * `Compacted` if the revision was compacted.
 */
export async function scan(
  { store, clock, at, signal, ready }: ScanOptions,
  range: KeyRange,
  tell: (entry: Entry) => string | undefined | void,
): Promise<void> {
  let sinceMs = clock.monotonicMs();
  for (let start: string | undefined = range.start; start !== undefined && !signal.aborted;) {
    const page = await store.range({ ...range, start }, { atRevision: at, limit: pageEntries });
    start = page.more ? successor(page.entries.at(-1)!.key) : undefined;
    for (const entry of page.entries) {
      const waiting = ready() ?? (clock.monotonicMs() - sinceMs > sliceMs ? giveWay(clock) : undefined);
      if (waiting) {
        await waiting;
        if (signal.aborted) return;
        sinceMs = clock.monotonicMs();
      }
      const next = tell(entry);
      if (next === undefined) continue;
      start = next;
      break;
    }
  }
}
