/**
 * One opened and started cluster:
 *
 *   open ──► engage ──► disengage (the signal fires) ──► drained ──► stop (all resources are released)
 *
 * If opening fails, everything is stopped before the error is reported: half-open clusters do not exist.
 */

import { asError, attempted, orAborted, settledWithin } from '@hangar/core';
import type { Cluster } from '../../cluster.ts';
import { RuntimeError } from '../../errors.ts';
import type { Aware, DiscoveredCluster, Engagement, Ownership } from '../contract.ts';
import { Fence } from './fence.ts';
import { fencedClient } from './fenced-client.ts';
import type { AddedIndex, EngineWorld } from './world.ts';

/** Maximum time for a cluster to stop before it is abandoned. */
const stopTimeoutMs = 10_000;

export class Instance {
  readonly discovered: DiscoveredCluster;
  readonly ownership: Ownership;
  /** The fenced cluster for other components. */
  readonly cluster: Cluster;
  readonly engagedAtMs: number;
  readonly #raw: Cluster;
  readonly #world: EngineWorld;
  readonly #fence: Fence;
  readonly #stopper = new AbortController();
  readonly #disengaged = new AbortController();
  readonly #engagements: Engagement[] = [];
  #ended: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #drained: Promise<void> | undefined;
  #onFailure: (() => void) | undefined;

  private constructor(world: EngineWorld, discovered: DiscoveredCluster, ownership: Ownership, raw: Cluster) {
    this.#world = world;
    this.discovered = discovered;
    this.ownership = ownership;
    this.#raw = raw;
    this.engagedAtMs = world.clock.monotonicMs();
    this.#fence = new Fence({ name: discovered.name, clock: world.clock, ownership });
    this.cluster = {
      name: discovered.name,
      client: fencedClient(raw.client, this.#fence),
      apiReader: raw.apiReader,
      cache: raw.cache,
      // Already running: resolves when the instance stops.
      start: () => this.#ended,
    };
  }

  /** Rejects with the error, or when the signal is aborted. Work that hangs is then abandoned. */
  static async open(
    world: EngineWorld,
    discovered: DiscoveredCluster,
    ownership: Ownership,
    signal: AbortSignal,
  ): Promise<Instance> {
    const opening = attempted(() => discovered.open(signal));
    const raw = await orAborted(opening, signal, (late) => void discard(late));
    const instance = new Instance(world, discovered, ownership, raw);
    try {
      await instance.#start(signal);
      return instance;
    } catch (error) {
      const ending = instance.stop().then(() => void world.endings.delete(ending));
      world.endings.add(ending);
      throw error;
    }
  }

  get isDisengaged(): boolean {
    return this.#disengaged.signal.aborted;
  }

  /** The error with which it stopped by itself; undefined while it runs. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Calls `onFailure` once when the cluster stops by itself. */
  engage(awares: Iterable<Aware>, onFailure: () => void): void {
    this.#onFailure = onFailure;
    for (const aware of awares) this.engageOne(aware);
    if (this.#failure) onFailure();
  }

  /** A component that throws is not engaged; the others are. */
  engageOne(aware: Aware): void {
    if (this.isDisengaged) return;
    const { name } = this.discovered;
    try {
      const options = { ownership: this.#fence };
      this.#engagements.push(aware.engage(name, this.cluster, this.#disengaged.signal, options));
    } catch (error) {
      this.#world.metrics.failed();
      this.#world.log?.error('controller failed to engage a cluster', { cluster: name, error: asError(error) });
    }
  }

  addIndex(index: AddedIndex): void {
    try {
      this.#raw.cache.addIndex(index.kind, index.name, index.values);
    } catch (error) {
      const { name } = this.discovered;
      this.#world.log?.error('failed to add an index', {
        cluster: name,
        index: index.name,
        error: asError(error),
      });
    }
  }

  /** Aborts the signal of all engaged components at once. Idempotent; the first reason counts. */
  disengage(reason: RuntimeError): void {
    this.#disengaged.abort(reason);
  }

  /** Resolves when no work runs after `disengage`. Has no timeout. */
  drained(): Promise<void> {
    this.#drained ??= Promise.allSettled(
      this.#engagements.map((engagement) => attempted(() => engagement.drained())),
    ).then(() => undefined);
    return this.#drained;
  }

  /** Called after it was disengaged as replaced, when no successor follows. */
  abandon(): void {
    for (const engagement of this.#engagements) {
      try {
        engagement.abandon?.();
      } catch (error) {
        this.#world.log?.error('controller failed to abandon a cluster', { error: asError(error) });
      }
    }
  }

  /** Stops everything. Never rejects; limited by a timeout. */
  async stop(): Promise<void> {
    this.#fence.close();
    this.#onFailure = undefined;
    this.#disengaged.abort(new RuntimeError('ClusterNotFound', `cluster "${this.discovered.name}" is stopped`));
    this.#stopper.abort();
    const { clock, log } = this.#world;
    const hasEnded = await settledWithin(clock, stopTimeoutMs, this.#ended);
    const isClosed = await settledWithin(clock, stopTimeoutMs, discard(this.#raw));
    if (!hasEnded || !isClosed) log?.error('cluster did not stop in time', { cluster: this.discovered.name });
  }

  /** Resolves when its caches are synced. */
  async #start(signal: AbortSignal): Promise<void> {
    for (const index of this.#world.indexes) this.addIndex(index);
    const running = attempted(() => this.#raw.start(this.#stopper.signal));
    const failed = new Promise<never>((_resolve, reject) => {
      const end = (error?: unknown): void => {
        if (this.#stopper.signal.aborted) return;
        this.#failure = new RuntimeError('EngageFailed', 'the cluster stopped unexpectedly', { cause: error });
        reject(this.#failure);
        this.#onFailure?.();
      };
      this.#ended = running.then(() => end(), end);
    });
    const synced = attempted(() => this.#raw.cache.synced(signal));
    // The race also handles a later rejection of `failed`, which is then reported through `onFailure`.
    await orAborted(Promise.race([synced, failed]), signal);
  }
}

/** Closes unused connections. */
async function discard(cluster: Cluster): Promise<void> {
  await attempted(() => cluster.client.close()).catch(() => {});
}
