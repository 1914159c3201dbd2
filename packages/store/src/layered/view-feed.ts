/**
 * The shared stream of a view: one watch of the tenant's whole range, distributed by prefix to all watches of the view that have caught up
 * with it. A write costs nothing for watches of other prefixes.
 *
 * It must be the whole range, and one stream: a deletion of a base entry is a tombstone outside of its own prefix, in the same revision as
 * its siblings, and only one stream keeps a revision whole and shows where the fence was broken.
 */

import type { Revision, StoreEvent, Watch, WatchBatch } from '../contract.ts';
import { closed } from '../errors.ts';
import type { ViewEvents } from './view-events.ts';

/** A watch that has caught up. */
export interface FeedMember {
  readonly prefix: string;
  /** In the order of revisions. */
  offer(batch: WatchBatch): void;
  /** Everything up to `floor` was offered. `floor` was current after the member requested mark number `ask`. */
  marked(ask: number, floor: Revision): void;
  /** Called when the feed has ended. */
  ended(error: Error): void;
}

export interface ViewFeedOptions {
  readonly source: Watch;
  /** Everything up to here was read from the source. */
  readonly revision: Revision;
  readonly events: ViewEvents;
  /** Returns the store's current revision. */
  currentRevision(): Promise<Revision>;
  /** Called when the last member has left, or the source has ended. */
  onEnd(feed: ViewFeed): void;
}

export class ViewFeed {
  readonly #options: ViewFeedOptions;
  /** By the length of the prefix, then the prefix. */
  readonly #groups = new Map<number, Map<string, Set<FeedMember>>>();
  #revision: Revision;
  /** Number of marks that the source delivered. */
  #marks = 0;
  /** Members that wait for a mark, and the revision that it must cover. */
  readonly #asking = new Map<FeedMember, { readonly ask: number; readonly floor: Revision }>();

  constructor(options: ViewFeedOptions) {
    this.#options = options;
    this.#revision = options.revision;
    void this.#run();
  }

  /** Everything up to here was offered. */
  get revision(): Revision {
    return this.#revision;
  }

  join(member: FeedMember): void {
    const { length } = member.prefix;
    let byPrefix = this.#groups.get(length);
    if (!byPrefix) this.#groups.set(length, (byPrefix = new Map()));
    const group = byPrefix.get(member.prefix);
    if (group) group.add(member);
    else byPrefix.set(member.prefix, new Set([member]));
  }

  leave(member: FeedMember): void {
    const byPrefix = this.#groups.get(member.prefix.length);
    const group = byPrefix?.get(member.prefix);
    if (!byPrefix || !group?.delete(member)) return;
    this.#asking.delete(member);
    if (group.size === 0) byPrefix.delete(member.prefix);
    if (byPrefix.size === 0) this.#groups.delete(member.prefix.length);
    if (this.#groups.size === 0) this.#end();
  }

  /**
   * The next mark of the source may have been sent before this request and cover too little: its revision shows whether it is sufficient.
   */
  requestProgress(member: FeedMember, ask: number): void {
    const marks = this.#marks;
    this.#options.source.requestProgress();
    this.#options.currentRevision().then(
      (floor) => {
        if (!this.#groups.get(member.prefix.length)?.get(member.prefix)?.has(member)) return;
        // The store may answer requests of a member out of order: one entry covers all of them.
        const known = this.#asking.get(member);
        this.#asking.set(member, {
          ask: Math.max(ask, known?.ask ?? 0),
          floor: Math.max(floor, known?.floor ?? 0) as Revision,
        });
        this.#answer();
        // The requested mark came before the floor, and is below it.
        if (floor > this.#revision && marks !== this.#marks) this.#options.source.requestProgress();
      },
      // The store does not answer: its watches fail separately; only the mark is missing.
      () => undefined,
    );
  }

  async #run(): Promise<void> {
    const { source, events } = this.#options;
    try {
      for (let batch = await source.next(); batch; batch = await source.next()) {
        const fall = events.fallOf(batch.events);
        // Events of the deletion of the view's tenant are delivered; events of another tenant are not.
        if (!fall || fall.isLast) this.#deliver(batch);
        if (fall?.isMarked) this.#markAll(batch.revision);
        if (fall) throw fall.error;
      }
      if (this.#groups.size > 0) throw closed(); // closed by the source
    } catch (error) {
      const members = this.#members();
      this.#groups.clear();
      this.#end();
      for (const member of members) member.ended(error as Error);
    }
  }

  #members(): FeedMember[] {
    return [...this.#groups.values()].flatMap((byPrefix) => [...byPrefix.values()].flatMap((group) => [...group]));
  }

  /** Offers a mark to all members, also to those that did not ask for one. */
  #markAll(revision: Revision): void {
    this.#revision = revision;
    for (const member of this.#members()) member.offer({ revision, events: [] });
  }

  #end(): void {
    this.#options.source.close();
    this.#options.onEnd(this);
  }

  #deliver({ revision, events: raw }: WatchBatch): void {
    this.#revision = revision;
    const { events } = this.#options;
    const matches = new Map<Set<FeedMember>, StoreEvent[]>();
    const watchers = new Map<string, readonly Set<FeedMember>[]>();
    const isWatched = (key: string): boolean => {
      const groups = this.#groupsOf(key);
      if (groups.length > 0) watchers.set(key, groups);
      return groups.length > 0;
    };
    for (const event of events.translated(raw, isWatched)) {
      for (const group of watchers.get(events.keyOf(event))!) {
        const matching = matches.get(group);
        if (matching) matching.push(event);
        else matches.set(group, [event]);
      }
    }
    for (const [group, matching] of matches) {
      const batch = { revision, events: matching };
      for (const member of group) member.offer(batch);
    }
    this.#answer();
    if (raw.length > 0) return;
    this.#marks++;
    // The mark is below the floor of these members. The next one is not, since their floors are known now.
    if (this.#asking.size > 0) this.#options.source.requestProgress();
  }

  #groupsOf(key: string): Set<FeedMember>[] {
    const found: Set<FeedMember>[] = [];
    for (const [length, byPrefix] of this.#groups) {
      const group = key.length >= length ? byPrefix.get(key.slice(0, length)) : undefined;
      if (group) found.push(group);
    }
    return found;
  }

  #answer(): void {
    for (const [member, { ask, floor }] of this.#asking) {
      if (floor > this.#revision) continue;
      this.#asking.delete(member);
      member.marked(ask, floor);
    }
  }
}
