/**
 * The life cycle of one cluster in the engine. Events (discovered, lost, acquired, released) are only recorded, and engaged components are
 * notified at once. A single driver then moves towards the goal, step by step, and reads the goal again after each step:
 *
 *   not wanted, not open      done; the member is removed when its cluster is lost
 *   not wanted, open          drain, stop
 *   wanted, not open          open; on failure retry with back-off, without limit
 *   another config wanted     open it first; then disengage and drain the old instance; then engage the new one. While the new one cannot
 *                             be opened, the old one stays: it works as long as its credentials do
 *
 * A driver without work exits: a cluster that is engaged, or waits for a change, has no timer.
 */

import { abortError, asError, backOffMs, hasCode, settledWithin } from '@hangar/core';
import type { Timer } from '@hangar/core';
import type { Cluster, ClusterName } from '../../cluster.ts';
import { RuntimeError } from '../../errors.ts';
import type { Aware, DiscoveredCluster, Ownership } from '../contract.ts';
import { Instance } from './instance.ts';
import { Right } from './right.ts';
import type { ClusterState, ClusterStatus } from './status.ts';
import type { AddedIndex, EngineWorld } from './world.ts';

/** Desired state: this config, with this ownership. */
interface Goal {
  readonly discovered: DiscoveredCluster;
  readonly ownership: Ownership;
  readonly life: number;
}

/** Maximum wait for changes in quick succession, as a multiple of the debounce. */
const debouncesMax = 5;
/** The back-off restarts for an instance that stopped by itself after this time. */
const stableMs = 60_000;

export class Member {
  readonly name: ClusterName;
  readonly #world: EngineWorld;
  readonly #onOver: () => void;
  readonly #right: Right;
  #discovered: DiscoveredCluster | undefined;
  /** Incremented when the cluster is lost: instances that were opened before must not be used after, even if the name returns. */
  #life = 0;
  /** Engaged, or draining. */
  #instance: Instance | undefined;
  /** Open; waits until the one before it is drained. */
  #next: Instance | undefined;
  /** Disengaged as replaced, without a successor yet: its queued work waits. */
  #kept: Instance | undefined;
  #driver: Promise<void> | undefined;
  /** True if an event was recorded since the driver last checked. */
  #isNews = false;
  #isOpening = false;
  /** Cancels the wait of the driver. */
  #wake = new AbortController();
  #laterWake: Timer | undefined;
  #failures = 0;
  #lastError: Error | undefined;
  #notBeforeMs = 0;
  #firstChangeMs: number | undefined;
  /** Drains of disengaged instances that may still work. */
  readonly #draining = new Set<Promise<void>>();

  constructor(world: EngineWorld, name: ClusterName, onOver: () => void) {
    this.#world = world;
    this.name = name;
    this.#onOver = onOver;
    this.#right = new Right({
      coordinator: world.coordinator,
      onAcquired: () => this.#acquired(),
      onEnded: () =>
        this.#giveUp(new RuntimeError('ClusterNotOwned', `cluster "${name}" is no longer owned by this process`)),
      drained: async () => {
        await Promise.all(this.#draining);
      },
    });
  }

  discovered(discovered: DiscoveredCluster): void {
    const before = this.#discovered;
    this.#discovered = discovered;
    this.#right.follow(discovered);
    if (before?.fingerprint === discovered.fingerprint) return;
    this.#failures = 0;
    this.#notBeforeMs = before ? this.#debouncedMs() : 0;
    this.#changed(before !== undefined);
  }

  lost(reason = new RuntimeError('ClusterNotFound', `cluster "${this.name}" not found`)): void {
    if (!this.#discovered) return;
    this.#discovered = undefined;
    this.#life++;
    this.#giveUp(reason);
  }

  /** Resolves when no work runs on the lost cluster, or it was abandoned. */
  over(): Promise<void> {
    return this.#driver ?? Promise.resolve();
  }

  /** Returns the engaged cluster. Throws the errors that `Clusters` documents. */
  get cluster(): Cluster {
    if (!this.#discovered) throw new RuntimeError('ClusterNotFound', `cluster "${this.name}" not found`);
    if (!this.#right.isProven)
      throw new RuntimeError('ClusterNotOwned', `cluster "${this.name}" is not owned by this process`);
    const instance = this.#next ?? this.#instance;
    if (instance && !instance.isDisengaged) return instance.cluster;
    throw new RuntimeError('EngageFailed', `cluster "${this.name}" is not engaged`, { cause: this.#lastError });
  }

  addAware(aware: Aware): void {
    this.#instance?.engageOne(aware);
  }

  addIndex(index: AddedIndex): void {
    this.#instance?.addIndex(index);
    this.#next?.addIndex(index);
  }

  get state(): ClusterState {
    if (this.#instance) return this.#instance.isDisengaged && !this.#next ? 'draining' : 'engaged';
    if (!this.#right.ownership) return 'unowned';
    if (this.#isOpening) return 'opening';
    return this.#lastError ? 'failed' : 'discovered';
  }

  status(): ClusterStatus {
    const { state } = this;
    const retryInMs = Math.max(0, this.#notBeforeMs - this.#world.clock.monotonicMs());
    const waits = this.#lastError && !this.#isOpening && retryInMs < Infinity && state !== 'unowned';
    return {
      name: this.name,
      state,
      failures: this.#failures,
      ...(this.#lastError ? { lastError: messageOf(this.#lastError) } : {}),
      ...(waits ? { retryInMs } : {}),
    };
  }

  #acquired(): void {
    this.#failures = 0;
    this.#notBeforeMs = 0;
    this.#changed(false);
  }

  #giveUp(reason: RuntimeError): void {
    this.#lastError = undefined;
    if (this.#instance) this.#disengage(this.#instance, reason);
    this.#kept?.abandon();
    this.#kept = undefined;
    this.#changed(false);
  }

  /** Opening may finish before the next config is opened: with quick changes none would finish otherwise. */
  #changed(mayFinish: boolean): void {
    this.#laterWake?.cancel();
    const waitMs = this.#notBeforeMs - this.#world.clock.monotonicMs();
    if (mayFinish && this.#isOpening && waitMs > 0) {
      const wake = this.#wake;
      this.#laterWake = this.#world.clock.after(waitMs, () => wake.abort());
    } else this.#wake.abort();
    this.#isNews = true;
    this.#driver ??= this.#drive();
  }

  #debouncedMs(): number {
    const { clock, debounceMs } = this.#world;
    const nowMs = clock.monotonicMs();
    this.#firstChangeMs ??= nowMs;
    return Math.min(nowMs + debounceMs, this.#firstChangeMs + debouncesMax * debounceMs);
  }

  #goal(): Goal | undefined {
    const [discovered, { ownership }] = [this.#discovered, this.#right];
    return discovered && ownership && { discovered, ownership, life: this.#life };
  }

  async #drive(): Promise<void> {
    // Combines events of the same tick.
    await undefined;
    while ((await this.#step()) || this.#isNews);
    this.#driver = undefined;
    if (this.#discovered) return;
    this.#right.leave();
    this.#onOver();
  }

  /** Returns false when the goal is reached. */
  async #step(): Promise<boolean> {
    this.#isNews = false;
    this.#wake = new AbortController();
    const { signal } = this.#wake;
    const goal = this.#goal();
    const instance = this.#instance;
    if (instance?.failure && !instance.isDisengaged) this.#hasEnded(instance, instance.failure);
    if (instance && (instance.isDisengaged || instance.ownership !== goal?.ownership)) {
      await this.#retire(instance);
      return true;
    }
    if (!goal) return false;
    if (instance?.discovered.fingerprint === goal.discovered.fingerprint) {
      this.#isAsWanted();
      return false;
    }
    if (this.#notBeforeMs === Infinity) return false;
    const waitMs = this.#notBeforeMs - this.#world.clock.monotonicMs();
    if (waitMs > 0) await this.#wait(waitMs, signal);
    else await this.#replace(goal, instance, signal);
    return true;
  }

  #isAsWanted(): void {
    this.#lastError = undefined;
    this.#firstChangeMs = undefined;
    this.#notBeforeMs = 0;
  }

  #wait(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.#world.clock.after(delayMs, done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  async #replace(goal: Goal, old: Instance | undefined, signal: AbortSignal): Promise<void> {
    this.#firstChangeMs = undefined;
    const next = await this.#open(goal, signal);
    if (!next) return;
    // A newer config does not prevent engaging this one: it is next.
    if (!this.#isWanted(goal)) return this.#stop(next);
    if (old && !old.isDisengaged) {
      this.#next = next;
      this.#disengage(old, replaced(this.name));
      await this.#drainedInTime(old);
      this.#next = undefined;
    }
    if (old) {
      this.#instance = undefined;
      this.#stop(old);
    }
    if (!this.#isWanted(goal)) return this.#stop(next);
    this.#instance = next;
    this.#kept = undefined;
    next.engage(this.#world.awares, () => this.#changed(false));
  }

  #isWanted({ ownership, life }: Goal): boolean {
    return this.#discovered !== undefined && this.#life === life && this.#right.ownership === ownership;
  }

  /** Returns undefined if it failed, which is recorded, or was cancelled. */
  async #open(goal: Goal, signal: AbortSignal): Promise<Instance | undefined> {
    const { clock, engageTimeoutMs, firstStarts, retries, metrics } = this.#world;
    let timer: Timer | undefined;
    let leave: (() => void) | undefined;
    const attempt = new AbortController();
    const onWake = (): void => attempt.abort(abortError(signal));
    signal.addEventListener('abort', onWake, { once: true });
    try {
      leave = await (this.#failures === 0 ? firstStarts : retries).enter(signal);
      this.#isOpening = true;
      const startedMs = clock.monotonicMs();
      timer = clock.after(engageTimeoutMs, () => attempt.abort(tooLate(this.name, engageTimeoutMs)));
      const instance = await Instance.open(this.#world, goal.discovered, goal.ownership, attempt.signal);
      metrics.engaged(clock.monotonicMs() - startedMs);
      this.#lastError = undefined;
      return instance;
    } catch (error) {
      if (!signal.aborted) this.#failed(hasCode(error, 'Aborted') ? (attempt.signal.reason ?? error) : error);
      return undefined;
    } finally {
      this.#isOpening = false;
      this.#laterWake?.cancel();
      timer?.cancel();
      leave?.();
      signal.removeEventListener('abort', onWake);
    }
  }

  #failed(thrown: unknown): void {
    const { clock, random, backOff, metrics, log } = this.#world;
    this.#failures++;
    this.#lastError = asError(thrown);
    metrics.failed();
    const isFinal = hasCode(thrown, 'Terminal');
    const delayMs = isFinal ? Infinity : backOffMs(backOff, this.#failures, random);
    this.#notBeforeMs = clock.monotonicMs() + delayMs;
    log?.warn('failed to engage a cluster', {
      cluster: this.name,
      failures: this.#failures,
      ...(isFinal ? {} : { retryInMs: Math.round(delayMs) }),
      error: messageOf(this.#lastError),
    });
  }

  /** Called when an engaged instance stopped by itself. It is opened again after a delay, with the queued work. */
  #hasEnded(instance: Instance, failure: Error): void {
    if (this.#world.clock.monotonicMs() - instance.engagedAtMs >= stableMs) this.#failures = 0;
    this.#failed(failure);
    this.#disengage(instance, replaced(this.name));
  }

  #disengage(instance: Instance, reason: RuntimeError): void {
    if (instance.isDisengaged) return;
    instance.disengage(reason);
    if (reason.code === 'ClusterReplaced') this.#kept = instance;
    const draining = instance.drained();
    this.#draining.add(draining);
    void draining.then(() => this.#draining.delete(draining));
  }

  async #retire(instance: Instance): Promise<void> {
    this.#disengage(instance, new RuntimeError('ClusterNotOwned', `cluster "${this.name}" changed its owner`));
    await this.#drainedInTime(instance);
    this.#instance = undefined;
    this.#stop(instance);
  }

  /** Work that does not finish is abandoned: the fence rejects its writes. */
  async #drainedInTime(instance: Instance): Promise<void> {
    const { clock, drainTimeoutMs, log } = this.#world;
    const isDrained = await settledWithin(clock, drainTimeoutMs, instance.drained());
    if (!isDrained)
      log?.error('reconciles of a cluster did not return in time; their writes are fenced', { cluster: this.name });
  }

  #stop(instance: Instance): void {
    const { endings } = this.#world;
    const ending = instance.stop().then(() => void endings.delete(ending));
    endings.add(ending);
  }
}

const replaced = (name: ClusterName): RuntimeError =>
  new RuntimeError('ClusterReplaced', `cluster "${name}" is reopened with a new configuration`);

const tooLate = (name: ClusterName, timeoutMs: number): RuntimeError =>
  new RuntimeError('EngageFailed', `cluster "${name}" did not open within ${timeoutMs} ms`);

/** Includes the causes: "not engaged" alone does not help users. */
function messageOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
