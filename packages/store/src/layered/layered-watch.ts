/**
 * A watch of a view. It is **live** (the view's shared stream delivers the events under its prefix) or **behind** (it reads its own stream
 * until it has caught up with the shared one, and joins it in the same synchronous step, so that no revision falls between). If there is no
 * shared stream, its own becomes the shared one. A consumer that is too slow falls behind again.
 */

import { assert } from '@hangar/core';
import type { Revision, Watch, WatchBatch, WatchOptions } from '../contract.ts';
import type { FeedMember, ViewFeed } from './view-feed.ts';
import type { ViewWatches } from './view-watches.ts';

interface Waiting {
  resolve(batch: WatchBatch | undefined): void;
  reject(error: Error): void;
}

export class LayeredWatch implements Watch, FeedMember {
  readonly prefix: string;
  readonly #previous: boolean;
  readonly #view: ViewWatches;
  readonly #queue: WatchBatch[] = [];
  /** The first revision that was neither delivered nor queued yet; undefined: the first one of its source. */
  #next: Revision | undefined;
  /** Its own source has delivered everything up to here. */
  #covered = 0 as Revision;
  /** Set while it is behind; absent until it is opened. */
  #source: Watch | undefined;
  /** Set while it is live. */
  #feed: ViewFeed | undefined;
  /** Rejects if the fence was broken before the watch began. */
  #standing: Promise<void> | undefined;
  /** Number of requested marks, and the last of them that was answered. */
  #asks = 0;
  #answered = 0;
  #progressDue = false;
  /** The last delivered mark: its revision, and the number of marks requested before it. */
  #marked = { revision: 0 as Revision, asks: 0 };
  #waiting: Waiting | undefined;
  #ended: { readonly error?: Error } | undefined;

  constructor(view: ViewWatches, { prefix, fromRevision, previous = false }: WatchOptions) {
    this.#view = view;
    this.prefix = prefix;
    this.#previous = previous;
    this.#next = fromRevision;
  }

  /** Called once, synchronously: everything committed from now on belongs to it. */
  begin(): void {
    this.#standing = this.#view.stands();
    this.#open();
  }

  async next(): Promise<WatchBatch | undefined> {
    assert(!this.#waiting, 'a watch has one consumer, and the consumer may wait for only one batch at a time');
    for (;;) {
      const queued = this.#queue.shift();
      if (queued) return queued;
      if (this.#ended) {
        if (this.#ended.error) throw this.#ended.error;
        return undefined;
      }
      if (!this.#feed) await this.#catchUp();
      else if (this.#progressDue) return this.#mark(this.#feed);
      else return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
    }
  }

  requestProgress(): void {
    if (this.#ended) return;
    this.#asks++;
    // A mark that was not read yet may be below the revision that is current now. The answer to this request covers both.
    this.#progressDue = false;
    if (this.#feed) this.#feed.requestProgress(this, this.#asks);
    else this.#source?.requestProgress();
  }

  close(): void {
    this.#queue.length = 0;
    this.#end({});
  }

  /** Fails at once: queued batches are dropped. */
  fail(error: Error): void {
    this.#queue.length = 0;
    this.#end({ error });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void, void> {
    try {
      for (let batch = await this.next(); batch; batch = await this.next()) yield batch;
    } finally {
      this.close();
    }
  }

  /** Called by the feed. */
  offer(batch: WatchBatch): void {
    if (this.#next !== undefined && batch.revision < this.#next) return;
    if (this.#queue.length >= this.#view.queueLengthMax) {
      this.#next = this.#queue[0]!.revision;
      this.#queue.length = 0;
      this.#feed?.leave(this);
      this.#feed = undefined;
      return;
    }
    this.#next = (batch.revision + 1) as Revision;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.resolve(batch);
    else this.#queue.push(batch);
  }

  /** Called by the feed. */
  marked(ask: number, floor: Revision): void {
    // The store may answer requests out of order. The answer to a later request covers this one.
    if (ask < this.#answered) return;
    this.#answered = ask;
    // The mark for an earlier request was delivered after this request, and covers it.
    if (ask <= this.#marked.asks && floor <= this.#marked.revision) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting && this.#feed) waiting.resolve(this.#mark(this.#feed));
    // A later request is not answered yet: its mark covers this one.
    else this.#progressDue = ask === this.#asks;
  }

  /** Called by the feed, or when its own source ended: queued batches are still delivered. */
  ended(error: Error): void {
    this.#end({ error });
  }

  /** Only when live with an empty queue: everything up to the feed's revision was delivered. */
  #mark({ revision }: ViewFeed): WatchBatch {
    this.#progressDue = false;
    this.#marked = { revision: Math.max(revision, this.#covered) as Revision, asks: this.#asks };
    return { revision: this.#marked.revision, events: [] };
  }

  /** One step with its own source. */
  async #catchUp(): Promise<void> {
    try {
      const source = this.#source ?? this.#open();
      const batch = await source.next();
      await this.#standing;
      this.#standing = undefined;
      if (!batch || this.#ended) return this.#end({});
      const fall = this.#view.events(this.#previous).fallOf(batch.events);
      // Events of the deletion of the view's tenant are delivered; events of another tenant are not.
      if (!fall || fall.isLast) this.#take(batch);
      if (fall?.isMarked) this.#queue.push({ revision: batch.revision, events: [] });
      if (fall) this.#end({ error: fall.error });
      else this.#joinWhenCaughtUp(source, batch);
    } catch (error) {
      this.#end({ error: error as Error });
    }
  }

  #open(): Watch {
    const source = this.#view.source(this.#next, this.#previous);
    this.#source = source;
    // A mark shows when the watch has caught up.
    source.requestProgress();
    return source;
  }

  #take({ revision, events: raw }: WatchBatch): void {
    this.#covered = revision;
    this.#next = Math.max(this.#next ?? 0, revision + 1) as Revision;
    const events = this.#view.events(this.#previous).translated(raw, (key) => key.startsWith(this.prefix));
    if (events.length > 0) this.#queue.push({ revision, events });
  }

  #joinWhenCaughtUp(source: Watch, { revision, events }: WatchBatch): void {
    const isMark = events.length === 0;
    const feed = this.#view.feed(this.#previous);
    if (!feed) {
      if (isMark) this.#join(this.#view.share(source, revision, this.#previous));
    } else if (feed.revision <= revision) {
      source.close();
      this.#join(feed);
    } else if (isMark) source.requestProgress();
  }

  #join(feed: ViewFeed): void {
    this.#source = undefined;
    this.#feed = feed;
    feed.join(this);
    if (this.#answered < this.#asks) feed.requestProgress(this, this.#asks);
  }

  #end(how: { readonly error?: Error }): void {
    if (this.#ended) return;
    this.#ended = how;
    this.#source?.close();
    this.#feed?.leave(this);
    this.#source = undefined;
    this.#feed = undefined;
    this.#view.forget(this);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (how.error) waiting?.reject(how.error);
    else waiting?.resolve(undefined);
  }
}
