/**
 * Keeps a target equal to the objects of a server until its signal is aborted, despite failures of the server.
 *
 *     no version known ──WatchList, or pages──► replace all ──► watch from there ──┐
 *        ▲                                                      ▲  events, bookmarks advance the version
 *        └── too old (410), not understood, garbage ────────────┼──────────────────┤
 *                                                               └── ended, broken ─┘
 *
 * A watch that lasted for a while and closed normally is resumed at once; all others back off. Versions are opaque: they are only sent back
 * to the server. A list replaces all objects, so that a server that was restored from a backup is followed too.
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

/** `Kept` is the form in which the target stores an object until `replace`. */
export interface ReflectorTarget<T extends ApiObject, Kept = T> {
  /** Returns undefined to ignore the object. The target owns the object from then on. */
  keep(object: T): Kept | undefined;
  /** Replaces all objects with these. Works in turns, and stops between two of them when the signal is aborted. */
  replace(objects: Iterable<Kept>, signal: AbortSignal): Promise<void>;
  put(object: T): void;
  remove(object: T): void;
  /** Called for a bookmark with annotations. */
  noted?(annotations: Readonly<Record<string, string>>): void;
}

export interface ReflectorOptions<T extends ApiObject, Kept = T> {
  readonly source: Source<T>;
  readonly target: ReflectorTarget<T, Kept>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Logger | undefined;
  /** False: lists in pages even if the server supports WatchList. */
  readonly watchList?: boolean | undefined;
}

const backOff = { baseMs: 1_600, maxMs: 30_000 };
/** A shorter watch does not count as progress, even if it closed normally. */
const shortMs = 1_000;
/** After this time without a failure, the failure count restarts. */
const healthyMs = 10_000;
/** Gives up a WatchList without events for this time: old servers handle it as a watch and never report that it is complete. */
const initialSilenceMs = 30_000;
/** Requests watches of 5 to 10 minutes; a watch that is open for longer counts as dead. */
const watchSeconds = 300;
const graceMs = 30_000;
/** Interrupted WatchLists after which the list is read in pages, which do not need a long-lived connection. */
const watchListFailuresMax = 2;
/** Number of objects between two yields to the event loop. */
const breathEvery = 500;

export class Reflector<T extends ApiObject, Kept = T> {
  readonly #options: ReflectorOptions<T, Kept>;
  #health: InformerHealth = { state: 'waiting' };
  /** Consecutive failures. */
  #failures = 0;
  /** Version from which a watch resumes; undefined: a list is required. */
  #version: string | undefined;
  #loadedMs = -Infinity;
  #usesWatchList: boolean;
  #watchListFailures = 0;
  /** Aborts the current round. */
  #round = new AbortController();
  #isLoading = false;
  /** Latches of callers that wait for a new list, and those of them that the running list serves. */
  readonly #asked = new Set<Latch>();
  #served: readonly Latch[] = [];

  constructor(options: ReflectorOptions<T, Kept>) {
    this.#options = options;
    this.#usesWatchList = options.watchList ?? true;
  }

  get health(): InformerHealth {
    return this.#health;
  }

  /** Version up to which the target is complete; '' before the first list. */
  get resourceVersion(): string {
    return this.#version ?? '';
  }

  /**
   * Resolves after a list that started later than this call, for callers that must not read older state. Rejects with `Aborted`, or
   * `CacheNotSynced` when the reflector stopped before.
   */
  async refreshed(signal?: AbortSignal): Promise<void> {
    if (this.#health.state === 'ended') throw endedEarly();
    const asked = new Latch();
    this.#asked.add(asked);
    // A running list started before this call: another one follows it.
    if (!this.#isLoading) this.#round.abort();
    try {
      await asked.wait(signal);
    } finally {
      this.#asked.delete(asked);
    }
  }

  /** Runs until the signal is aborted. Never rejects. */
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

  /** Runs until the next round is due or the signal is aborted. */
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

  /** An expired version is normal after a long interruption and needs no back-off, unless the list was a moment ago. */
  #isOvertaken(error: Error, nowMs: number): boolean {
    return (
      (hasCode(error, 'Expired') || hasCode(error, 'Gone')) &&
      this.#version !== undefined &&
      nowMs - this.#loadedMs >= shortMs
    );
  }

  /** Lists if necessary and watches until the watch closes. Returns the error unless it closed normally. */
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

  /** Returns true if a watch followed the list and has closed since. */
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

  /** Watches from the version. With `initial`, all existing objects come first, then a bookmark that marks their end. */
  async #watch(signal: AbortSignal, initial?: InitialEvents<Kept>): Promise<void> {
    const { source, clock, random } = this.#options;
    const timeoutSeconds = watchSeconds + random.below(watchSeconds);
    const silenceMs = initial && initialSilenceMs;
    const guard = new WatchGuard({ clock, signal, lifetimeMs: timeoutSeconds * 1_000 + graceMs, silenceMs });
    // An established watch may be silent for a minute: staying open is enough.
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
      if (event.annotations) target.noted?.(event.annotations);
      // An event without a version is ignored.
      if (event.resourceVersion !== '') this.#version = event.resourceVersion;
    } else {
      const { type, object } = event;
      insistOnObject(object);
      // The stored form may have different metadata.
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
