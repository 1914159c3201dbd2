/**
 * A cluster while a controller works on it: its sources, and what is under way of it.
 *
 *   begin ──► sources register ──► all of them synced, or cannot for now ──► onReady: requests may be dispatched
 *   end   ──► nothing is told any more, runs are asked to end ──► drained
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
  /** Of the local cluster where the controller only watches: no requests. */
  readonly isOnlyWatched: boolean;
  readonly rawSources: readonly RawSource[];
  /** The one that this replaces. */
  readonly before: EngagedCluster | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly priorityOfInitial: number;
  readonly cacheSyncTimeoutMs: number;
  enqueue(request: RequestLike, options?: { readonly priority?: number; readonly afterMs?: number }): void;
  /** The requests of every object of the controller's own kind: in this cluster, or in all. */
  everything(isEverywhere: boolean): Iterable<RequestLike>;
  onSourceFailure(): void;
}

/** How soon it is noticed that a kind cannot be watched. */
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
  /** It ended, and no other comes in its place. */
  isLost = false;
  onEnd: (() => void) | undefined;
  /** What those before this one knew, until this one knows itself. */
  readonly #known = new Map<KindSource, Informer>();

  constructor(options: EngagedOptions) {
    // Not the one before: there would be a chain of all there ever were.
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

  /** Has no requests of its own. */
  get isOnlyWatched(): boolean {
    return this.#options.isOnlyWatched;
  }

  get hasEnded(): boolean {
    return this.#over.signal.aborted;
  }

  /** Resolves when its requests may be dispatched, or it has ended. Never rejects. */
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

  /** Also of what was timed out and goes on. */
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

  /** Of every object of the controller's own kind that is known of it. */
  *ownRequests(): Generator<RequestLike, void, void> {
    for (const feed of this.feeds) {
      if (!feed.source.isOwn) continue;
      for (const request of feed.replayed()) yield { ...request, cluster: this.name };
    }
  }

  /** What the cluster before this one knew and this one does not was deleted between the two. */
  #tellMissing(feed: SourceFeed): void {
    const informer = this.#known.get(feed.source);
    if (this.hasEnded || !informer) return;
    this.#known.delete(feed.source);
    if (informer !== feed.informer) feed.tellMissing(informer);
  }

  /** Where it never got so far, what the one before it knew. */
  #knownOf(source: KindSource): Informer | undefined {
    return this.#known.get(source) ?? this.feeds.find((feed) => feed.source === source && feed.hasFilled)?.informer;
  }

  async #settled(signal: AbortSignal): Promise<void> {
    const { clock, cacheSyncTimeoutMs, log } = this.#options;
    const filled = Promise.all(this.feeds.map((feed) => feed.filled));
    const endMs = clock.monotonicMs() + cacheSyncTimeoutMs;
    // Most are filled in a moment: those who are looked at anew are looked at less and less often.
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
