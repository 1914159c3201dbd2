/** Checks that a refused request stored nothing. The server may write concurrently. */

import assert from 'node:assert/strict';
import type { Revision, Store, StoreEvent } from '@hangar/store';

/** Fails with the keys that changed after `before`, other than by the server itself. */
export async function checkNothingStored(store: Store, before: Revision, status: number): Promise<void> {
  const now = await store.revision();
  if (now === before) return;
  const stored = (await eventsBetween(store, before, now)).filter((event) => !isOfServer(event)).map(keyOf);
  assert.deepEqual(stored, [], `answered ${status}, but stored something`);
}

async function eventsBetween(store: Store, after: Revision, to: Revision): Promise<StoreEvent[]> {
  const watch = store.watch({ prefix: '', fromRevision: (after + 1) as Revision });
  try {
    const events: StoreEvent[] = [];
    for (let reached: Revision = after; reached < to;) {
      const batch = await watch.next();
      assert.ok(batch, 'the watch ended');
      events.push(...batch.events);
      reached = batch.revision;
    }
    return events;
  } finally {
    watch.close();
  }
}

const keyOf = (event: StoreEvent): string => (event.type === 'put' ? event.entry.key : event.key);

/**
 * Reports whether the event is for an APIService that the server maintains for a group-version that it serves itself. The server restores
 * it some time after a client deleted or changed it. A client's write would name another field manager.
 */
function isOfServer(event: StoreEvent): boolean {
  if (event.type !== 'put' || !event.entry.key.includes('/apiregistration.k8s.io/apiservices/')) return false;
  const { metadata } = JSON.parse(Buffer.from(event.entry.value).toString()) as {
    metadata: { labels?: Record<string, string>; managedFields?: { manager?: string }[] };
  };
  return (
    metadata.labels?.['kube-aggregator.kubernetes.io/automanaged'] === 'true' &&
    metadata.managedFields?.every(({ manager }) => manager === 'hangar') === true
  );
}
