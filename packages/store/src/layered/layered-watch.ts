/**
 * A watch of the view, made of a watch of the tenant's whole range: a deletion of a base entry shows as a tombstone
 * outside the watched prefix, in the same revision as its siblings, and only one stream keeps a revision whole.
 */

import type { Entry, StoreEvent, Watch, WatchBatch } from '../contract.ts';
import { fallOf } from './fence.ts';
import type { Fence } from './fence.ts';
import type { Layout } from './layout.ts';

export interface LayeredWatchOptions {
  source: Watch;
  layout: Layout;
  prefix: string;
  /** It ends when this falls. */
  fence: Fence | undefined;
  /** Rejects when it had fallen before the watch began. Absent: the watch would have seen it. */
  standing: Promise<void> | undefined;
  /** For events that replace a base entry; undefined where previous entries are not wanted. */
  baseEntry(key: string): Entry | undefined;
  onClose(): void;
}

export class LayeredWatch implements Watch {
  readonly #options: LayeredWatchOptions;
  #failure: Error | undefined;

  constructor(options: LayeredWatchOptions) {
    this.#options = options;
  }

  async next(): Promise<WatchBatch | undefined> {
    for (;;) {
      const batch = await this.#options.source.next().catch((error: Error) => {
        throw this.#failure ?? error;
      });
      if (this.#failure) throw this.#failure;
      if (!batch || batch.events.length === 0) return batch;
      if (this.#options.standing) await this.#settled(this.#options.standing);
      const fall = this.#fallOf(batch.events);
      if (fall) this.fail(fall.error);
      // What ended with the view is told; what another one brought is not.
      if (fall && !fall.isLast) throw fall.error;
      const events = this.#translate(batch.events);
      if (events.length > 0) return { revision: batch.revision, events };
    }
  }

  requestProgress(): void {
    this.#options.source.requestProgress();
  }

  close(): void {
    this.#options.source.close();
    this.#options.onClose();
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void, void> {
    try {
      for (let batch = await this.next(); batch; batch = await this.next()) yield batch;
    } finally {
      this.close();
    }
  }

  async #settled(standing: Promise<void>): Promise<void> {
    this.#options.standing = undefined;
    try {
      await standing;
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }

  #fallOf(events: readonly StoreEvent[]): ReturnType<typeof fallOf> {
    const { fence } = this.#options;
    if (!fence) return undefined;
    for (const event of events) {
      const fall = fallOf(fence, event);
      if (fall) return fall;
    }
    return undefined;
  }

  #translate(events: readonly StoreEvent[]): StoreEvent[] {
    const { layout, prefix, baseEntry } = this.#options;
    const hidden = new Set<string>();
    const unhidden = new Set<string>();
    const own: StoreEvent[] = [];
    for (const event of events) {
      const key = keyOf(event);
      const relative = layout.hiddenBy(key);
      if (relative === undefined) own.push(event);
      else (event.type === 'put' ? hidden : unhidden).add(layout.prefix + relative);
    }
    const translated: StoreEvent[] = [];
    for (const event of own) {
      const key = keyOf(event);
      hidden.delete(key); // an own entry was deleted together with what is below it: one event
      if (!key.startsWith(prefix)) continue;
      const first = event.type === 'put' && event.entry.version === 1 && !unhidden.has(key);
      const previous = event.previous ?? (first && key !== layout.prefix ? baseEntry(key) : undefined);
      translated.push(previous ? { ...event, previous } : event);
    }
    for (const key of hidden) {
      if (!key.startsWith(prefix)) continue;
      const previous = baseEntry(key);
      translated.push({ type: 'delete', key, ...(previous && { previous }) });
    }
    return translated;
  }
}

function keyOf(event: StoreEvent): string {
  return event.type === 'put' ? event.entry.key : event.key;
}
