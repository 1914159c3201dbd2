/**
 * Keeps a target equal to what a server has, for as long as its signal allows, whatever the server does.
 *
 *     no version known ──WatchList, or pages──► replace all ──► watch from there ──┐
 *        ▲                                                      ▲  events, bookmarks move the version on
 *        └── too old (410), not understood, garbage ────────────┼──────────────────┤
 *                                                               └── ended, broken ─┘
 *
 * What lived for a while and ended in good order is gone on with at once; everything else waits, longer each time. Versions are
 * never read, only given back. A list replaces everything, so that also a server that was set back is followed.
 */

import { ClientError } from '@hangar/client';
import type { ApiObject, WatchEvent } from '@hangar/client';
import { asError, backOffMs, breathe, hasCode, sleep } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import type { InformerHealth } from './contract.ts';
import { insistOnObject, isUnsupported, mayResume } from './failures.ts';
import { listAll } from './first-list.ts';
import { InitialEvents } from './initial-events.ts';
import { Latch } from './latch.ts';
import type { Source } from './source.ts';
import { WatchGuard } from './watch-guard.ts';

/** `Kept` is what the target makes of an object that it is going to be given with all others. */
export interface ReflectorTarget<T extends ApiObject, Kept = T> {
  /** Undefined: nothing. The object is the target's own from then on. */
  keep(object: T): Kept | undefined;
  /** This, which was kept, and nothing else is there now. In turns: stops between two of them when the signal fires. */
  replace(objects: Iterable<Kept>, signal: AbortSignal): Promise<void>;
  put(object: T): void;
  remove(object: T): void;
}

export interface ReflectorOptions<T extends ApiObject, Kept = T> {
  readonly source: Source<T>;
  readonly target: ReflectorTarget<T, Kept>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Logger | undefined;
  /** False: lists in pages even where the server could tell everything on the watch. */
  readonly watchList?: boolean | undefined;
}

const backOff = { baseMs: 1_600, maxMs: 30_000 };
/** A watch that lived for less is no progress, even when it ended in good order. */
const shortMs = 1_000;
/** After so long without a failure, the next one is the first. */
const healthyMs = 10_000;
/** A WatchList of which nothing came for so long will not come: old servers take it for a watch and never say that it is complete. */
const initialSilenceMs = 30_000;
/** Servers are asked to end watches after 5 to 10 minutes; one that is still open later is taken for dead. */
const watchSeconds = 300;
const graceMs = 30_000;
/** Broken off so often before it was complete, a list in pages is tried: it needs no connection that lasts. */
const watchListFailuresMax = 2;
/** Objects between two breaths. */
const breathEvery = 500;

export class Reflector<T extends ApiObject, Kept = T> {
  readonly #options: ReflectorOptions<T, Kept>;
  #health: InformerHealth = { state: 'waiting' };
  /** In a row. */
  #failures = 0;
  /** Where a watch goes on; undefined: everything has to be asked for. */
  #version: string | undefined;
  #loadedMs = -Infinity;
  #usesWatchList: boolean;
  #watchListFailures = 0;
  /** Of what runs now. */
  #round = new AbortController();
  #isLoading = false;
  /** Who waits for everything to be asked for anew, and those of them whom the one that is under way serves. */
  readonly #asked = new Set<Latch>();
  #served: readonly Latch[] = [];

  constructor(options: ReflectorOptions<T, Kept>) {
    this.#options = options;
    this.#usesWatchList = options.watchList ?? true;
  }

  get health(): InformerHealth {
    return this.#health;
  }

  /** Up to where everything is known; '' before anything is. */
  get resourceVersion(): string {
    return this.#version ?? '';
  }

  /**
   * Everything that is known after this was asked for at the server after now: for who must not see what was true before. Rejects
   * with `Aborted`, or `CacheNotSynced` when it ended before.
   */
  async refreshed(signal?: AbortSignal): Promise<void> {
    if (this.#health.state === 'ended') throw endedEarly();
    const asked = new Latch();
    this.#asked.add(asked);
    // One that is being asked for began before now: another follows it.
    if (!this.#isLoading) this.#round.abort();
    try {
      await asked.wait(signal);
    } finally {
      this.#asked.delete(asked);
    }
  }

  /** Until the signal. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const round = (this.#round = new AbortController());
      const onAbort = (): void => round.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      await this.#runRound(round.signal);
      signal.removeEventListener('abort', onAbort);
    }
    this.#health = { state: 'ended' };
    for (const asked of this.#asked) asked.fail(endedEarly());
  }

  /** Until it has ended and it is time for another, or the signal fires. */
  async #runRound(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    if (this.#asked.size > 0) this.#version = undefined;
    const beganMs = clock.monotonicMs();
    const error = await this.#attempt(signal);
    if (signal.aborted) return;
    const endedMs = clock.monotonicMs();
    if (endedMs - beganMs >= healthyMs) this.#failures = 0;
    const isProgress = error === undefined ? endedMs - beganMs >= shortMs : this.#isOvertaken(error, endedMs);
    if (error && !isProgress) this.#failed(error);
    if (error && !mayResume(error, this.#failures)) this.#version = undefined;
    if (!isProgress) await sleep(clock, backOffMs(backOff, ++this.#failures, random), signal).catch(() => {});
  }

  /** Too old a version is what happens to who was away for long: no reason to wait, unless the list was a moment ago. */
  #isOvertaken(error: Error, nowMs: number): boolean {
    return (
      (hasCode(error, 'Expired') || hasCode(error, 'Gone')) &&
      this.#version !== undefined &&
      nowMs - this.#loadedMs >= shortMs
    );
  }

  /** Lists if need be and watches until that ends. The error is why it did not end in good order. */
  async #attempt(signal: AbortSignal): Promise<Error | undefined> {
    try {
      if (this.#version === undefined && (await this.#load(signal))) return undefined;
      await this.#watch(signal);
      return undefined;
    } catch (error) {
      return asError(error);
    }
  }

  #failed(error: Error): void {
    const isNews = this.#health.lastError?.message !== error.message;
    this.#health = { state: 'failing', lastError: error };
    if (isNews) this.#options.log?.warn('list or watch failed, retrying', { error });
  }

  #succeeded(): void {
    if (this.#health.state === 'watching') return;
    if (this.#health.state === 'failing') this.#options.log?.info('list or watch recovered');
    this.#health = { state: 'watching' };
  }

  /** True: it was followed by a watch, which has ended since. */
  async #load(signal: AbortSignal): Promise<boolean> {
    this.#isLoading = true;
    this.#served = [...this.#asked];
    try {
      return await this.#loadAnyhow(signal);
    } finally {
      this.#isLoading = false;
    }
  }

  async #loadAnyhow(signal: AbortSignal): Promise<boolean> {
    if (this.#health.state !== 'failing') this.#health = { state: 'listing' };
    if (this.#usesWatchList && this.#watchListFailures < watchListFailuresMax) {
      try {
        await this.#watch(signal, new InitialEvents());
        return true;
      } catch (error) {
        if (signal.aborted || this.#version !== undefined) throw error;
        this.#watchListFailures++;
        if (!isUnsupported(error)) throw error;
        this.#usesWatchList = false;
      }
    }
    await this.#list(signal);
    return false;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { source, target } = this.#options;
    let objects: Kept[] = [];
    const keep = (object: T): void => {
      insistOnObject(object);
      const kept = target.keep(object);
      if (kept !== undefined) objects.push(kept);
    };
    const { resourceVersion } = await listAll(source, { keep, restart: () => (objects = []), signal });
    await this.#loaded(objects, resourceVersion, signal);
  }

  async #loaded(objects: Iterable<Kept>, resourceVersion: string, signal: AbortSignal): Promise<void> {
    if (resourceVersion === '') throw new ClientError('MalformedAnswer', 'received a list without a resourceVersion');
    await this.#options.target.replace(objects, signal);
    if (signal.aborted) return;
    this.#version = resourceVersion;
    this.#watchListFailures = 0;
    this.#loadedMs = this.#options.clock.monotonicMs();
    this.#isLoading = false;
    this.#succeeded();
    for (const asked of this.#served) {
      asked.open();
      this.#asked.delete(asked);
    }
    if (this.#asked.size > 0) this.#round.abort();
  }

  /** Goes on from the version; with `initial`, everything that is there comes first, then a bookmark that says so. */
  async #watch(signal: AbortSignal, initial?: InitialEvents<Kept>): Promise<void> {
    const { source, clock, random } = this.#options;
    const timeoutSeconds = watchSeconds + random.below(watchSeconds);
    const silenceMs = initial && initialSilenceMs;
    const guard = new WatchGuard({ clock, signal, lifetimeMs: timeoutSeconds * 1_000 + graceMs, silenceMs });
    // A watch that goes on may have nothing to say for a minute: that it lasts is enough.
    const lasting = clock.after(healthyMs, () => void (this.#version !== undefined && this.#succeeded()));
    const from = initial ? { sendInitialEvents: true } : { resourceVersion: this.#version };
    try {
      let count = 0;
      for await (const event of source.watch({ ...from, timeoutSeconds, signal: guard.signal })) {
        if (++count % breathEvery === 0) await breathe(clock);
        if (signal.aborted) return;
        guard.heard();
        if (!initial) this.#follow(event);
        else if (event.type !== 'BOOKMARK') this.#collect(event, initial);
        else if (event.isInitialEventsEnd) {
          guard.allowSilence();
          await this.#loaded(initial.objects, event.resourceVersion, signal);
          initial = undefined;
        }
      }
    } catch (error) {
      throw guard.reason ?? error;
    } finally {
      lasting.cancel();
      guard.close();
    }
    if (initial) throw new ClientError('ConnectionLost', 'the watch closed before it sent all initial events');
    this.#succeeded();
  }

  #collect({ type, object }: ObjectEvent<T>, initial: InitialEvents<Kept>): void {
    insistOnObject(object);
    const key = InitialEvents.keyOf(object);
    initial.set(key, type === 'DELETED' ? undefined : this.#options.target.keep(object));
  }

  #follow(event: WatchEvent<T>): void {
    const { target } = this.#options;
    if (event.type === 'BOOKMARK') {
      // One without a version says nothing.
      if (event.resourceVersion !== '') this.#version = event.resourceVersion;
    } else {
      const { type, object } = event;
      insistOnObject(object);
      // What is kept of it may have another metadata.
      const { resourceVersion } = object.metadata;
      if (type === 'DELETED') target.remove(object);
      else target.put(object);
      this.#version = resourceVersion;
    }
    this.#succeeded();
  }
}

type ObjectEvent<T extends ApiObject> = Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>;

const endedEarly = (): RuntimeError =>
  new RuntimeError('CacheNotSynced', 'the cache stopped before the relist completed');
