/** Translates events of the store below to events of a view. */

import type { Entry, StoreEvent } from '../contract.ts';
import { fallOf } from './fence.ts';
import type { Fall, Fence } from './fence.ts';
import type { Layout } from './layout.ts';

export interface ViewEventsOptions {
  readonly layout: Layout;
  readonly fence: Fence | undefined;
  /** The previous entry for events that replace a base entry; undefined if previous entries are not requested. */
  baseEntry(key: string): Entry | undefined;
  /** Reports whether the entry is a copy of its base entry, with the same revisions: writing it changes nothing in the view. */
  isCopyOfBase(entry: Entry): boolean;
}

export class ViewEvents {
  readonly #options: ViewEventsOptions;

  constructor(options: ViewEventsOptions) {
    this.#options = options;
  }

  /** Given all events of one revision, returns why the view ends with it. */
  fallOf(events: readonly StoreEvent[]): Fall | undefined {
    const { fence } = this.#options;
    if (!fence) return undefined;
    for (const event of events) {
      const fall = fallOf(fence, event);
      if (fall) return fall;
    }
    return undefined;
  }

  /** Given all events of one revision in the tenant's range, returns the view's events of wanted keys. */
  translated(events: readonly StoreEvent[], isWanted: (key: string) => boolean): StoreEvent[] {
    const { layout, baseEntry, isCopyOfBase } = this.#options;
    const hidden = new Set<string>();
    const unhidden = new Set<string>();
    const own: StoreEvent[] = [];
    for (const event of events) {
      const relative = layout.hiddenBy(this.keyOf(event));
      if (relative === undefined) own.push(event);
      else (event.type === 'put' ? hidden : unhidden).add(layout.prefix + relative);
    }
    const translated: StoreEvent[] = [];
    for (const event of own) {
      const key = this.keyOf(event);
      hidden.delete(key); // an own entry was deleted together with its base entry: one event
      if (!isWanted(key) || (event.type === 'put' && isCopyOfBase(event.entry))) continue;
      const first = event.type === 'put' && event.entry.version === 1 && !unhidden.has(key);
      const previous = event.previous ?? (first && key !== layout.prefix ? baseEntry(key) : undefined);
      translated.push(previous ? { ...event, previous } : event);
    }
    for (const key of hidden) {
      if (!isWanted(key)) continue;
      const previous = baseEntry(key);
      translated.push({ type: 'delete', key, ...(previous && { previous }) });
    }
    return translated;
  }

  keyOf(event: StoreEvent): string {
    return event.type === 'put' ? event.entry.key : event.key;
  }
}
