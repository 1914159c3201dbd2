/**
 * A cluster while a controller is engaged with it: its sources and its running work.
 *
 *   begin ──► sources register ──► all synced, or unable to for now ──► onReady: requests may be dispatched
 *   end   ──► events stop, runs are aborted ──► drained
 */

import { asError, sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { Informer } from '../cache/contract.ts';
import type { Cluster, ClusterName } from '../cluster.ts';
import type { EngageOptions } from '../clusters/contract.ts';
import type { RawSource, RequestLike } from './options.ts';
import type { Run } from './run.ts';
import { SourceFeed } from './source-feed.ts';
import type { KindSource } from './sources.ts';

export interface EngagedOptions extends EngageOptions {
  readonly name: ClusterName;
  readonly cluster: Cluster;
  readonly sources: readonly KindSource[];
  /** True for a local cluster that is only watched: it has no requests. */
  readonly isOnlyWatched: boolean;
  readonly rawSources: readonly RawSource[];
  /** The engagement that this one replaces. */
  readonly before: EngagedCluster | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly priorityOfInitial: number;
  readonly cacheSyncTimeoutMs: number;
  enqueue(request: RequestLike, options?: { readonly priority?: number; readonly afterMs?: number }): void;
  /** Returns requests for all objects of the controller's own kind: in this cluster, or in all. */
  everything(isEverywhere: boolean): Iterable<RequestLike>;
  onSourceFailure(): void;
}

/** Interval of checks whether a kind cannot be watched. */
const lookMs = 250;
const lookMaxMs = 5_000;
const rawRetryMs = 5_000;

export class EngagedCluster {
  readonly name: ClusterName;
  readonly cluster: Cluster;
  readonly ownership: EngageOptions['ownership'];
  readonly feeds: readonly SourceFeed[];
  readonly #options: EngagedOptions;
  readonly #running = new Set<Run>();
  readonly #over = new AbortController();
  readonly #onDrained: (() => void)[] = [];
  /** True if it was disengaged without a replacement. */
  isLost = false;
  onEnd: (() => void) | undefined;
  /** Informers of the former engagement, used until those of this one are synced. */
  readonly #known = new Map<KindSource, Informer>();

  constructor(options: EngagedOptions) {
    // Drops the reference to the former engagement: otherwise all of them would form a chain.
    this.#options = { ...options, before: undefined };
    this.name = options.name;
    this.cluster = options.cluster;
    this.ownership = options.ownership;
    this.feeds = options.sources.map(
      (source) =>
        new SourceFeed({
          source,
          cluster: options.cluster,
          clock: options.clock,
          log: options.log,
          enqueue: (request, priority) => options.enqueue(request, { priority }),
          everything: () => options.everything(source.isLocal),
          priorityOfInitial: options.priorityOfInitial,
          onFailure: () => options.onSourceFailure(),
        }),
    );
    for (const source of options.sources) {
      const informer = options.before && options.before.#knownOf(source);
      if (informer) this.#known.set(source, informer);
    }
  }

  /** True if it has no requests. */
  get isOnlyWatched(): boolean {
    return this.#options.isOnlyWatched;
  }

  get hasEnded(): boolean {
    return this.#over.signal.aborted;
  }

  /** Resolves when its requests may be dispatched, or it was disengaged. Never rejects. */
  async begin(): Promise<void> {
    const { signal } = this.#over;
    for (const feed of this.feeds) {
      feed.start(signal);
      void feed.filled.then(() => this.#tellMissing(feed)).catch((error: unknown) => this.#unexpected(error));
    }
    for (const source of this.#options.rawSources) void this.#runRaw(source, signal);
    await this.#settled(signal);
  }

  end(reason: unknown): void {
    if (this.hasEnded) return;
    this.#over.abort(reason);
    for (const feed of this.feeds) feed.stop();
    for (const run of this.#running) run.abort(reason);
    this.onEnd?.();
  }

  /** Includes runs that timed out and continue. */
  drained(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  entered(run: Run): void {
    this.#running.add(run);
  }

  left(run: Run): void {
    this.#running.delete(run);
    if (this.#running.size > 0 || this.#onDrained.length === 0) return;
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  /** Returns requests for all known objects of the controller's own kind. */
  *ownRequests(): Generator<RequestLike, void, void> {
    for (const feed of this.feeds) {
      if (!feed.source.isOwn) continue;
      for (const request of feed.replayed()) yield { ...request, cluster: this.name };
    }
  }

  /** Objects that the former engagement had and this one does not were deleted in between. */
  #tellMissing(feed: SourceFeed): void {
    const informer = this.#known.get(feed.source);
    if (this.hasEnded || !informer) return;
    this.#known.delete(feed.source);
    if (informer !== feed.informer) feed.tellMissing(informer);
  }

  /** Falls back to the informer of the former engagement if this one never synced. */
  #knownOf(source: KindSource): Informer | undefined {
    return this.#known.get(source) ?? this.feeds.find((feed) => feed.source === source && feed.hasFilled)?.informer;
  }

  async #settled(signal: AbortSignal): Promise<void> {
    const { clock, cacheSyncTimeoutMs, log } = this.#options;
    const filled = Promise.all(this.feeds.map((feed) => feed.filled));
    const endMs = clock.monotonicMs() + cacheSyncTimeoutMs;
    // Most sync within a moment: the interval of the checks grows.
    for (let delayMs = lookMs; !signal.aborted; delayMs = Math.min(2 * delayMs, lookMaxMs)) {
      if (this.feeds.every((feed) => feed.isSettled)) return;
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) {
        log.warn('timed out waiting for caches to sync, starting workers', { waitedMs: cacheSyncTimeoutMs });
        return;
      }
      const looked = new AbortController();
      const again = sleep(clock, Math.min(delayMs, leftMs), looked.signal).catch(() => {});
      await Promise.race([filled, again]);
      looked.abort();
    }
  }

  #unexpected(error: unknown): void {
    this.#options.log.error('failed to find objects that were deleted while the cluster was disengaged', {
      error: asError(error),
    });
  }

  async #runRaw(source: RawSource, signal: AbortSignal): Promise<void> {
    const { cluster, enqueue, log, clock } = this.#options;
    while (!signal.aborted) {
      try {
        await source({ cluster, enqueue, log }, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#options.onSourceFailure();
        log.error('source failed, retrying', { error: asError(error) });
      }
      await sleep(clock, rawRetryMs, signal).catch(() => {});
    }
  }
}
