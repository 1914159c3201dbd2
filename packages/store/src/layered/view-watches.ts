/** The watches of a view, and the streams that they share: one for those that want previous entries, one for the others. */

import type { Entry, Revision, Store, Watch, WatchOptions } from '../contract.ts';
import { closed } from '../errors.ts';
import type { StoreError } from '../errors.ts';
import { checkKey } from '../keys.ts';
import { checkRevision } from '../limits.ts';
import { beforeFence, insistOnFence, resumedFrom } from './fence.ts';
import type { Fence } from './fence.ts';
import { LayeredWatch } from './layered-watch.ts';
import type { Layout } from './layout.ts';
import { ViewEvents } from './view-events.ts';
import { ViewFeed } from './view-feed.ts';

export interface ViewWatchesOptions {
  readonly store: Store;
  readonly layout: Layout;
  readonly fence: Fence | undefined;
  baseEntry(relative: string): Entry | undefined;
  isCopyOfBase(entry: Entry): boolean;
  readonly queueLengthMax: number | undefined;
}

export class ViewWatches {
  /** Limit of batches that wait for their consumer, for each watch. */
  readonly queueLengthMax: number;
  readonly #options: ViewWatchesOptions;
  readonly #events: Readonly<Record<'plain' | 'previous', ViewEvents>>;
  readonly #feeds = new Map<boolean, ViewFeed>();
  readonly #watches = new Set<LayeredWatch>();
  #closed: StoreError | undefined;

  constructor(options: ViewWatchesOptions) {
    this.#options = options;
    this.queueLengthMax = options.queueLengthMax ?? 1024;
    const { layout, fence, baseEntry, isCopyOfBase } = options;
    this.#events = {
      plain: new ViewEvents({ layout, fence, baseEntry: () => undefined, isCopyOfBase }),
      previous: new ViewEvents({ layout, fence, baseEntry: (key) => baseEntry(layout.relative(key)), isCopyOfBase }),
    };
  }

  watch(options: WatchOptions): Watch {
    if (options.prefix !== '') checkKey(options.prefix);
    if (options.fromRevision !== undefined) checkRevision(options.fromRevision);
    const fromRevision = resumedFrom(this.#options.fence, options.fromRevision);
    const watch = new LayeredWatch(this, { ...options, ...(fromRevision !== undefined && { fromRevision }) });
    const refusal = this.#closed ?? beforeFence(this.#options.fence, fromRevision);
    if (refusal) watch.fail(refusal);
    else {
      this.#watches.add(watch);
      watch.begin();
    }
    return watch;
  }

  close(reason: StoreError = closed()): void {
    this.#closed = reason;
    for (const watch of this.#watches) watch.fail(this.#closed);
  }

  /** Called by the watches. */
  forget(watch: LayeredWatch): void {
    this.#watches.delete(watch);
  }

  events(previous: boolean): ViewEvents {
    return previous ? this.#events.previous : this.#events.plain;
  }

  /** The stream shared by all watches that have caught up; undefined if there is none. */
  feed(previous: boolean): ViewFeed | undefined {
    return this.#feeds.get(previous);
  }

  /** Makes this source the shared one. Everything up to the revision was read from it. */
  share(source: Watch, revision: Revision, previous: boolean): ViewFeed {
    const onEnd = (ended: ViewFeed): void => {
      if (this.#feeds.get(previous) === ended) this.#feeds.delete(previous);
    };
    const currentRevision = (): Promise<Revision> => this.#options.store.revision();
    const feed = new ViewFeed({ source, revision, events: this.events(previous), currentRevision, onEnd });
    this.#feeds.set(previous, feed);
    return feed;
  }

  /** Opens a separate stream for one watch while it is behind. */
  source(fromRevision: Revision | undefined, previous: boolean): Watch {
    const { store, layout } = this.#options;
    return store.watch({ prefix: layout.prefix, previous, ...(fromRevision !== undefined && { fromRevision }) });
  }

  /** Checks the fence when the watch begins, for a watch whose prefix may not include it. */
  stands(): Promise<void> | undefined {
    const { store, fence } = this.#options;
    const standing = fence && store.get(fence.key).then(({ entry }) => insistOnFence(fence, entry));
    // The watch reports the error to its reader.
    standing?.catch(() => undefined);
    return standing;
  }
}
