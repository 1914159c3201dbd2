/** The summary of a running etcd, read in pages at one revision. Equal to the summary of a snapshot of that revision. */

import type { KeyRange, Store } from '@hangar/store';
import type { ContentSummary } from '@hangar/backup-operator';
import { ContentDigest, isVolatile } from '@hangar/store/etcd-snapshot';

/** Of a page. etcd limits responses by their number of entries, not by their size. */
const entriesMax = 200;

/** All keys of a control plane: they start with a slash. */
const keys: KeyRange = { start: '/', end: '0' };

/** Rejects with `Compacted` if the revision is compacted while it is read: the caller tries again. */
export async function summarizeKeys(store: Pick<Store, 'range'>, signal: AbortSignal): Promise<ContentSummary> {
  const digest = new ContentDigest();
  let [start, page] = [keys.start, await store.range(keys, { limit: entriesMax })];
  const { revision } = page;
  for (;;) {
    signal.throwIfAborted();
    for (const { key, value } of page.entries) {
      const bytes = Buffer.from(key);
      if (!isVolatile(bytes)) digest.add(bytes, value);
    }
    const last = page.entries.at(-1);
    if (!page.more || !last) break;
    // The smallest key behind the last one.
    start = `${last.key}\u0000`;
    page = await store.range({ ...keys, start }, { limit: entriesMax, atRevision: revision });
  }
  const { entries, digest: contentDigest } = digest.summary();
  return { objects: entries, contentDigest, revision: String(revision) };
}
