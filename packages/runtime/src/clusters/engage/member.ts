/**
 * The life of one cluster in the engine. What others say (discovered, lost, acquired, given up) is only noted, and what is engaged is
 * told at once; one driver at a time then brings about what is wanted, step by step, and looks anew after each:
 *
 *   nothing wanted, nothing there      over; the member is forgotten when its cluster is lost
 *   something there, not wanted        drain, stop
 *   wanted, not there                  open; failing: wait, longer each time, for ever
 *   another config wanted              open that first; then disengage and drain the old; then engage the new. While the new one cannot
 *                                      be opened the old one stays: it works as long as its credentials do
 *
 * A driver that has nothing to do ends: a cluster that is engaged, or waits for a change, has no timer.
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

/** What is wanted: this config, by this right. */
interface Goal {
  readonly discovered: DiscoveredCluster;
  readonly ownership: Ownership;
  readonly life: number;
}

/** Changes in quick succession are waited for at most this many times the debounce. */
const debouncesMax = 5;
/** One that was engaged for this long and then ended by itself begins its back-off anew. */
const stableMs = 60_000;

export class Member {
  readonly name: ClusterName;
  readonly #world: EngineWorld;
  readonly #onOver: () => void;
  readonly #right: Right;
  #discovered: DiscoveredCluster | undefined;
  /** Grows when the cluster is lost: what was opened of it before is of no use after, though its name comes again. */
  #life = 0;
  /** Engaged, or draining. */
  #instance: Instance | undefined;
  /** Open; waits until the one before it is drained. */
  #next: Instance | undefined;
  /** Disengaged as replaced, and nothing was engaged since: its queued work waits. */
  #kept: Instance | undefined;
  #driver: Promise<void> | undefined;
  /** Something was noted since the driver looked. */
  #isNews = false;
  #isOpening = false;
  /** Ends what the driver waits for. */
  #wake = new AbortController();
  #laterWake: Timer | undefined;
  #failures = 0;
  #lastError: Error | undefined;
  #notBeforeMs = 0;
  #firstChangeMs: number | undefined;
  /** What is disengaged and perhaps still at work, by its drain. */
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

  /** After `lost`: resolves when nothing works on it any more, or was left behind. */
  over(): Promise<void> {
    return this.#driver ?? Promise.resolve();
  }

  /** What may be worked with now; throws as `Clusters` says. */
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

  /** A config that is just being opened may get through before another is tried: with quick changes none would, otherwise. */
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
    // What is told in one go is acted upon together.
    await undefined;
    while ((await this.#step()) || this.#isNews);
    this.#driver = undefined;
    if (this.#discovered) return;
    this.#right.leave();
    this.#onOver();
  }

  /** False: what is wanted is so. */
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
    // That there is another config meanwhile is no reason to go without: that one is next.
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

  /** Undefined: it failed, which is noted, or was given up. */
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

  /** It was engaged and ended by itself: opened again after a while, with the work that is queued. */
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

  /** Work that does not end is left behind: the fence lets nothing of it through any more. */
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

/** With what is behind it: "not engaged" alone helps nobody. */
function messageOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
