/** The events of one revision, as etcd's watch delivers them. */

import type { Revision, StoreEvent } from '../../contract.ts';
import type { Publication } from '../../engine/hub.ts';
import type { WatchedEvent } from './messages/watch.ts';

/** Approximate overhead of an event beside its bytes. */
const eventOverheadBytes = 300;

export class WatchedRevision implements Publication {
  readonly revision: Revision;
  readonly keys: readonly string[];
  readonly #events: readonly WatchedEvent[];

  constructor(revision: Revision, events: readonly WatchedEvent[]) {
    this.revision = revision;
    this.keys = events.map((event) => event.entry.key);
    this.#events = events;
  }

  event(index: number, withPrevious: boolean): StoreEvent {
    const { deleted, entry, previous } = this.#events[index]!;
    const was = withPrevious && previous ? { previous } : undefined;
    return deleted ? { type: 'delete', key: entry.key, ...was } : { type: 'put', entry, ...was };
  }

  /** Undefined when none of the keys has the prefix. */
  eventsUnder(prefix: string, withPrevious: boolean): StoreEvent[] | undefined {
    let events: StoreEvent[] | undefined;
    this.keys.forEach((key, index) => {
      if (key.startsWith(prefix)) (events ??= []).push(this.event(index, withPrevious));
    });
    return events;
  }

  /**
   * etcd looks up the previous value of an event when it sends the event, and leaves it out when a compaction was faster. Such an event
   * would look like the creation of the key.
   *
   * etcd (3.5 to 3.7) also leaves it out of events that it sends while it registers the watch: it sets the flag for previous values after
   * the watch can receive events. A new watch from the same revision then has the value.
   */
  get lacksPrevious(): boolean {
    return this.#events.some(
      ({ deleted, entry, previous }) => !previous && (deleted || entry.createRevision !== entry.modRevision),
    );
  }

  get bytes(): number {
    let bytes = 0;
    for (const { entry, previous } of this.#events) {
      bytes += entry.key.length + entry.value.length + (previous?.value.length ?? 0) + eventOverheadBytes;
    }
    return bytes;
  }
}

/** In the order of the events, which is that of revisions. */
export function byRevision(events: readonly WatchedEvent[]): WatchedRevision[] {
  const revisions: WatchedRevision[] = [];
  for (let at = 0; at < events.length;) {
    const revision = events[at]!.entry.modRevision;
    let end = at + 1;
    while (end < events.length && events[end]!.entry.modRevision === revision) end++;
    revisions.push(new WatchedRevision(revision, at === 0 && end === events.length ? events : events.slice(at, end)));
    at = end;
  }
  return revisions;
}
