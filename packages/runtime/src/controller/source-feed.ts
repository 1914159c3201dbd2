/**
 * One source in one cluster: converts the events of an informer to requests. If the kind cannot be watched (not served, or forbidden), it
 * reports that and retries; the other sources of the controller are not affected.
 */

import { keyOf } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { asError, sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { EventHandler, Informer, Registration } from '../cache/contract.ts';
import { isUnavailable } from '../cache/failures.ts';
import type { Cluster } from '../cluster.ts';
import type { RequestLike } from './options.ts';
import type { KindSource } from './sources.ts';
import { Sweep } from './sweep.ts';

export interface FeedOptions {
  readonly source: KindSource;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  /** Never throws. */
  enqueue(request: RequestLike, priority: number): void;
  /** Returns the requests of the mapping `all`. */
  everything(): Iterable<RequestLike>;
  readonly priorityOfInitial: number;
  /** Called once when the kind cannot be watched, until it can be. */
  onFailure(): void;
}

const retryMinMs = 1_000;
const retryMaxMs = 60_000;

export class SourceFeed {
  readonly source: KindSource;
  readonly #options: FeedOptions;
  #informer: Informer | undefined;
  #registration: Registration | undefined;
  #isFailing = false;
  #hasFilled = false;
  #filled: Promise<void> = Promise.resolve();
  /** For the mapping `all`. */
  readonly #sweep: Sweep<RequestLike> | undefined;

  constructor(options: FeedOptions) {
    const { source, clock, everything, enqueue, log } = options;
    this.#options = options;
    this.source = source;
    if (source.map !== 'all') return;
    const onFailure = (error: Error): void => log.error('map function failed', { ...this.#about(), error });
    this.#sweep = new Sweep({ clock, everything, each: enqueue, onFailure });
  }

  /** The last informer; stays available after `stop`. */
  get informer(): Informer | undefined {
    return this.#informer;
  }

  get hasSynced(): boolean {
    return this.#registration?.hasSynced ?? false;
  }

  /** True if all initial objects were delivered; stays available after `stop`. */
  get hasFilled(): boolean {
    return this.#hasFilled;
  }

  /** Resolves when all initial objects were delivered, or the signal is aborted. Never rejects. */
  get filled(): Promise<void> {
    return this.#filled;
  }

  /** True if callers should not wait for it: it synced, or cannot for now. */
  get isSettled(): boolean {
    if (this.hasSynced || this.#isFailing) return true;
    const error = this.#informer?.health.lastError;
    if (!error || !isUnavailable(error)) return false;
    this.#failed(error);
    return true;
  }

  /** Registers the handler before it returns. */
  start(signal: AbortSignal): void {
    this.#filled = this.#fill(signal);
  }

  /** Stops the delivery of events. */
  stop(): void {
    this.#sweep?.stop();
    this.#registration?.remove();
    this.#registration = undefined;
  }

  /** Objects that another informer had and this one does not were deleted between the two. */
  tellMissing(before: Informer): void {
    const informer = this.#informer;
    if (!informer) return;
    const handler = this.#handler();
    for (const object of before.all()) if (!informer.get(keyOf(object))) handler.onDelete!(object);
  }

  /**
   * Returns the requests of all current objects, for clusters that are engaged later. The mapping `all` returns none: a new cluster
   * enqueues its objects itself.
   */
  *replayed(): Generator<RequestLike, void, void> {
    if (this.#sweep) return;
    for (const object of this.#informer?.all() ?? []) {
      if (this.#isWanted(() => this.source.where.create?.(object, true))) yield* this.#mapped(object);
    }
  }

  async #fill(signal: AbortSignal): Promise<void> {
    for (let delayMs = retryMinMs; !signal.aborted; delayMs = Math.min(2 * delayMs, retryMaxMs)) {
      try {
        this.#informer = this.#options.cluster.cache.informer(this.source.kind);
        this.#registration = this.#informer.addHandler(this.#handler());
        await this.#registration.synced(signal);
        if (this.#isFailing) this.#options.log.info('source recovered', this.#about());
        this.#isFailing = false;
        this.#hasFilled = true;
        return;
      } catch (error) {
        this.#registration?.remove();
        this.#registration = undefined;
        if (signal.aborted) return;
        this.#failed(asError(error));
      }
      await sleep(this.#options.clock, delayMs, signal).catch(() => {});
    }
  }

  #failed(error: Error): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#options.onFailure();
    this.#options.log.warn('failed to watch a source, retrying', { ...this.#about(), error });
  }

  #about(): { apiVersion: string; kind: string } {
    const { apiVersion, kind } = this.source.kind;
    return { apiVersion, kind };
  }

  #handler(): EventHandler {
    const { where } = this.source;
    const { priorityOfInitial } = this.#options;
    return {
      onAdd: (object, isInitial) => {
        if (!this.#isWanted(() => where.create?.(object, isInitial))) return;
        this.#enqueue(object, isInitial ? priorityOfInitial : 0);
      },
      onUpdate: (before, after) => {
        if (!this.#isWanted(() => where.update?.(before, after))) return;
        const isNews = before.metadata.resourceVersion !== after.metadata.resourceVersion;
        const priority = isNews ? 0 : priorityOfInitial;
        this.#enqueue(before, priority);
        this.#enqueue(after, priority);
      },
      onDelete: (object) => {
        if (this.#isWanted(() => where.delete?.(object))) this.#enqueue(object, 0);
      },
    };
  }

  #isWanted(test: () => boolean | undefined): boolean {
    try {
      return test() ?? true;
    } catch (error) {
      this.#options.log.error('predicate failed', { ...this.#about(), error: asError(error) });
      return true;
    }
  }

  #enqueue(object: ApiObject, priority: number): void {
    if (this.#sweep) this.#sweep.ask(priority);
    else for (const request of this.#mapped(object)) this.#options.enqueue(request, priority);
  }

  #mapped(object: ApiObject): Iterable<RequestLike> {
    try {
      const { map } = this.source;
      const requests = map === 'all' ? [] : map(object, this.#options.cluster);
      // Consumed here, so that errors of a generator are caught too.
      return Array.isArray(requests) ? requests : Array.from(requests);
    } catch (error) {
      const { namespace, name } = object.metadata;
      this.#options.log.error('map function failed', { ...this.#about(), namespace, name, error: asError(error) });
      return [];
    }
  }
}
