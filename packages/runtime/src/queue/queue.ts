/**
 * The queue of a controller; `contract.ts` has its contract. All operations are O(log n) or better, except the removal of a cluster, which
 * is linear in its requests.
 *
 *   add ──► delays ──due──► turns ──take──► busy ──done──► gone, or `behind` ──► turns
 *              (one timer)    (order of takes)
 *
 * Nothing in here awaits: each call leaves a consistent state, so that calls from listeners and reconcilers may nest.
 */

import { assert, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Request } from '../controller/reconcile.ts';
import { RuntimeError } from '../errors.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { ClusterItems } from './cluster-items.ts';
import type { AddOptions, RequestQueue, ShutDownOptions, Taken } from './contract.ts';
import { Delays } from './delays.ts';
import type { Item } from './item.ts';
import { LinkedList } from './linked-list.ts';
import { QueueMetrics } from './queue-metrics.ts';
import { RateLimiter } from './rate-limit.ts';
import type { RateLimit } from './rate-limit.ts';
import { Turns } from './turns.ts';

/** Options of `Queue`. */
export interface QueueOptions {
  /** Name of the controller, for metrics. */
  readonly name: string;
  readonly clock?: Clock;
  readonly rateLimit?: RateLimit;
  /** Maximum number of requests of one cluster that are processed at the same time. Absent: no limit. */
  readonly maxPerCluster?: number;
  readonly metrics?: MetricsRegistry;
  /** Called synchronously when a request becomes ready that no `take` waits for. */
  readonly onReady?: () => void;
}

const plain: AddOptions = {};

/** The work queue of a controller. */
export class Queue implements RequestQueue {
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  readonly #maxPerCluster: number;
  readonly #metrics: QueueMetrics;
  readonly #onReady: (() => void) | undefined;
  readonly #clusters = new Map<string, ClusterItems>();
  readonly #paused = new Set<string>();
  readonly #turns = new Turns();
  readonly #delays: Delays;
  readonly #busy = new LinkedList<Item>();
  readonly #takers: ((taken: Taken | undefined) => void)[] = [];
  readonly #onIdle: (() => void)[] = [];
  #readyCount = 0;
  #behindCount = 0;
  #isShutDown = false;
  #isDraining = false;

  constructor({ name, clock = systemClock, rateLimit, maxPerCluster = Infinity, metrics, onReady }: QueueOptions) {
    if (!(maxPerCluster >= 1))
      throw new RuntimeError('InvalidOptions', `maxPerCluster must be a positive integer, not ${maxPerCluster}`);
    this.#clock = clock;
    this.#limiter = new RateLimiter(rateLimit);
    this.#maxPerCluster = maxPerCluster;
    this.#onReady = onReady;
    this.#delays = new Delays(
      clock,
      (item) => this.#makeReady(item),
      () => this.#wake(),
    );
    this.#metrics = new QueueMetrics(metrics, name, {
      depths: () => this.#depths(),
      busySeconds: () => this.#busySeconds(),
    });
  }

  get length(): number {
    return this.#readyCount + this.#behindCount + this.#delays.length;
  }

  /** Number of clusters with state in the queue. */
  get clusterCount(): number {
    return this.#clusters.size;
  }

  /** Number of requests that are taken but not done. */
  get busyCount(): number {
    return this.#busy.length;
  }

  add(request: Request, options: AddOptions = plain): void {
    if (this.#isShutDown) return;
    const nowMs = this.#clock.monotonicMs();
    const item = this.#clusterItems(request.cluster).getOrMake(request);
    this.#raise(item, options.priority);
    const delayMs = this.#delayOf(item, options, nowMs);
    if (delayMs > 0) {
      this.#metrics.retries++;
      this.#delay(item, nowMs + delayMs, nowMs);
      return;
    }
    if (item.place === 'ready' || item.place === 'behind') return;
    if (item.place === 'delayed') this.#delays.remove(item);
    this.#makeReady(item);
    this.#wake();
  }

  tryTake(): Taken | undefined {
    const item = this.#turns.next();
    if (!item) return undefined;
    const { request, priority, cluster } = item;
    const nowMs = this.#clock.monotonicMs();
    item.place = 'none';
    item.isBusy = true;
    item.busySinceMs = nowMs;
    this.#readyCount--;
    this.#busy.push(item);
    cluster.busy++;
    if (cluster.isHeld) this.#turns.heldOrNot(cluster);
    this.#metrics.waited.observe((nowMs - item.readySinceMs) / 1000);
    return { request, priority };
  }

  take(): Promise<Taken | undefined> {
    const taken = this.tryTake();
    if (taken || this.#hasEnded()) return Promise.resolve(taken);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  done(request: Request): void {
    const item = this.#find(request);
    assert(item?.isBusy, 'done was called for a request that was not taken');
    const { cluster } = item;
    this.#metrics.worked.observe((this.#clock.monotonicMs() - item.busySinceMs) / 1000);
    item.isBusy = false;
    this.#busy.remove(item);
    const wasHeld = cluster.isHeld;
    cluster.busy--;
    if (item.place === 'behind') {
      this.#behindCount--;
      item.place = 'ready';
      this.#readyCount++;
      this.#turns.push(item);
    }
    if (wasHeld) this.#turns.heldOrNot(cluster);
    this.#dropIfIdle(item);
    const listeners = item.onDone;
    item.onDone = undefined;
    for (const listener of listeners ?? []) listener();
    this.#wake();
    this.#settleIfEnded();
  }

  forget(request: Request): void {
    const item = this.#find(request);
    if (!item) return;
    item.failures = 0;
    this.#dropIfIdle(item);
  }

  retriesOf(request: Request): number {
    return this.#find(request)?.failures ?? 0;
  }

  pause(cluster: string): void {
    this.#paused.add(cluster);
    const items = this.#clusters.get(cluster);
    if (!items) return;
    items.isPaused = true;
    this.#turns.heldOrNot(items);
    // No `resume` follows after the shutdown: a drain must not wait for it.
    if (this.#isShutDown) void this.removeCluster(cluster);
  }

  resume(cluster: string): void {
    if (!this.#paused.delete(cluster)) return;
    const items = this.#clusters.get(cluster);
    if (!items) return;
    items.isPaused = false;
    this.#turns.heldOrNot(items);
    this.#wake();
  }

  removeCluster(cluster: string): Promise<void> {
    const items = this.#clusters.get(cluster);
    if (!items) return Promise.resolve();
    let underWay = items.busy;
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const item of items) {
      if (item.isBusy) (item.onDone ??= []).push(() => --underWay === 0 && resolve());
      item.failures = 0;
      this.#drop(item);
    }
    if (underWay === 0) resolve();
    this.#settleIfEnded();
    return promise;
  }

  shutDown({ drain = false }: ShutDownOptions = {}): Promise<void> {
    this.#isShutDown = true;
    this.#isDraining = drain;
    this.#delays.clear((item) => {
      item.place = 'none';
      this.#dropIfIdle(item);
    });
    for (const items of this.#clusters.values()) {
      if (drain && !items.isPaused) continue;
      for (const item of items) this.#drop(item);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle.push(resolve);
    this.#settleIfEnded();
    return promise;
  }

  #clusterItems(name: string): ClusterItems {
    let items = this.#clusters.get(name);
    if (!items) {
      items = new ClusterItems(name, this.#paused.has(name), this.#maxPerCluster);
      this.#clusters.set(name, items);
    }
    return items;
  }

  #find(request: Request): Item | undefined {
    return this.#clusters.get(request.cluster)?.get(request);
  }

  /** A queued item keeps its highest priority; an item that is not queued gets the given one. */
  #raise(item: Item, asked: number | undefined): void {
    const priority = asked === undefined || Number.isNaN(asked) ? 0 : asked;
    if (item.place === 'none') item.priority = priority;
    if (priority <= item.priority) return;
    if (item.place !== 'ready') {
      item.priority = priority;
      return;
    }
    this.#turns.remove(item);
    item.priority = priority;
    this.#turns.push(item);
  }

  #delayOf(item: Item, { afterMs = 0, rateLimited = false }: AddOptions, nowMs: number): number {
    if (!rateLimited) return afterMs;
    const backOffMs = this.#limiter.delayMs(item.cluster.name, item.failures++, nowMs);
    return afterMs > backOffMs ? afterMs : backOffMs;
  }

  #delay(item: Item, dueMs: number, nowMs: number): void {
    if (item.place === 'none') {
      item.place = 'delayed';
      this.#delays.push(item, dueMs, nowMs);
    } else if (item.place === 'delayed' && dueMs < item.dueMs) {
      this.#delays.earlier(item, dueMs, nowMs);
    }
  }

  /** For an item that is neither in a lane nor in the heap. */
  #makeReady(item: Item): void {
    this.#metrics.adds++;
    item.readySinceMs = this.#clock.monotonicMs();
    if (item.isBusy) {
      item.place = 'behind';
      this.#behindCount++;
      return;
    }
    item.place = 'ready';
    this.#readyCount++;
    this.#turns.push(item);
  }

  /** Removes the item from its lane or the heap. Processing continues. */
  #drop(item: Item): void {
    if (item.place === 'ready') {
      this.#turns.remove(item);
      this.#readyCount--;
    } else if (item.place === 'delayed') {
      this.#delays.remove(item);
    } else if (item.place === 'behind') {
      this.#behindCount--;
    }
    item.place = 'none';
    this.#dropIfIdle(item);
  }

  #dropIfIdle(item: Item): void {
    if (item.isBusy || item.place !== 'none' || item.failures > 0) return;
    item.cluster.delete(item);
    if (item.cluster.isEmpty) this.#clusters.delete(item.cluster.name);
  }

  #wake(): void {
    while (this.#takers.length > 0 && !this.#turns.isEmpty) this.#takers.shift()!(this.tryTake());
    if (this.#onReady && !this.#turns.isEmpty) this.#onReady();
  }

  /** True if no request will become available. */
  #hasEnded(): boolean {
    if (!this.#isShutDown) return false;
    return this.#readyCount === 0 && (!this.#isDraining || this.#busy.length === 0);
  }

  #settleIfEnded(): void {
    if (!this.#hasEnded()) return;
    for (const resolve of this.#takers.splice(0)) resolve(undefined);
    if (this.#busy.length > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #depths(): Map<number, number> {
    const depths = new Map<number, number>();
    for (const { lanes } of this.#clusters.values()) {
      for (const { priority, items } of lanes.values())
        depths.set(priority, (depths.get(priority) ?? 0) + items.length);
    }
    return depths;
  }

  *#busySeconds(): Generator<number, void, void> {
    const nowMs = this.#clock.monotonicMs();
    for (const { busySinceMs } of this.#busy) yield (nowMs - busySinceMs) / 1000;
  }
}
