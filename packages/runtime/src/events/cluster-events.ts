/**
 * The events of one cluster: aggregated as they arrive, and written one after the other by a worker that exists only while events are
 * queued. A cluster that does not answer delays and loses only its own events.
 */

import { asError, hasCode, sleep } from '@hangar/core';
import type { Clock, Logger, Random, Timer } from '@hangar/core';
import type { ApiObject } from '@hangar/client';
import { bounded } from '../bounded.ts';
import type { EventMetrics } from './event-metrics.ts';
import { eventName, observationOf } from './observation.ts';
import type { EventDetails } from './observation.ts';
import { referenceKey, Series, seriesKey } from './series.ts';
import { SpamFilter } from './spam-filter.ts';
import { mayPass, writeEvent } from './write-event.ts';
import type { EventSink } from './write-event.ts';

export interface ClusterEventsOptions extends EventSink {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger | undefined;
  readonly metrics: EventMetrics;
  readonly queueLengthMax: number;
  /** Shared by all clusters. */
  readonly room: Room;
  /** Reports whether the recorder is closed. */
  isClosed(): boolean;
  /** Called before the first event, and after the last one was removed. */
  onActive(isActive: boolean): void;
}

/** Remaining room for queued events, shared by all clusters. */
export interface Room {
  left: number;
}

/** Time window of a series, as in client-go. */
const seriesMs = 6 * 60_000;
const seriesMax = 4_096;
const sweepMs = 60_000;
const spam = { burst: 25, refillMs: 5 * 60_000, objectsMax: 4_096 };
const triesMax = 12;
const retryMs = 10_000;
const requestTimeoutMs = 10_000;

export class ClusterEvents {
  readonly #options: ClusterEventsOptions;
  readonly #filter: SpamFilter;
  readonly #series = new Map<string, Series>();
  readonly #queue: Series[] = [];
  readonly #closing = new AbortController();
  readonly #over = new AbortController();
  #working: Promise<void> | undefined;
  #sweeper: Timer | undefined;
  #isActive = false;
  #hasComplained = false;

  constructor(options: ClusterEventsOptions) {
    this.#options = options;
    this.#filter = new SpamFilter({ clock: options.clock, ...spam });
  }

  /** Queues an Event. Never blocks and never throws; an Event that cannot be written is counted as dropped. */
  event(regarding: ApiObject, details: EventDetails): void {
    try {
      this.#event(regarding, details);
    } catch (error) {
      this.#dropped('invalid', error);
    }
  }

  normal(regarding: ApiObject, reason: string, note: string): void {
    this.event(regarding, { reason, note });
  }

  warning(regarding: ApiObject, reason: string, note: string): void {
    this.event(regarding, { type: 'Warning', reason, note });
  }

  /**
   * Stops accepting Events and writes the queued ones with one attempt each. Resolves when they are written or the signal is aborted.
   * Never rejects.
   */
  async close(signal: AbortSignal): Promise<void> {
    this.#sweeper?.cancel();
    for (const series of this.#series.values()) if (series.isUnwritten && !series.isQueued) this.#enqueue(series);
    this.#closing.abort();
    const onAbort = () => this.#over.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    await this.#working;
    signal.removeEventListener('abort', onAbort);
    this.#series.clear();
    this.#setActive();
  }

  #event(regarding: ApiObject, details: EventDetails): void {
    const { clock, random } = this.#options;
    if (this.#options.isClosed()) return this.#dropped('closed');
    const observation = observationOf(regarding, details);
    if (!observation) return this.#dropped('invalid');
    const [nowMs, monotonicMs] = [clock.now(), clock.monotonicMs()];
    const key = seriesKey(observation);
    const about = `${observation.type} ${referenceKey(observation.regarding)}`;
    const known = this.#series.get(key);
    if (known && monotonicMs - known.seenMs < seriesMs) {
      known.again(observation.note, nowMs, monotonicMs);
      if (!known.isQueued && this.#filter.take(about)) this.#enqueue(known);
      return;
    }
    if (known) this.#finish(key, known);
    if (!this.#filter.take(about)) return this.#dropped('rate_limited');
    const name = eventName(observation.regarding.name!, nowMs, random);
    const series = new Series(observation, name, nowMs, monotonicMs);
    if (!this.#enqueue(series)) return;
    this.#series.set(key, series);
    if (this.#series.size > seriesMax) this.#finish(...(this.#series.entries().next().value as [string, Series]));
    this.#setActive();
  }

  #enqueue(series: Series): boolean {
    const { queueLengthMax, room } = this.#options;
    if (this.#queue.length >= queueLengthMax || room.left <= 0) {
      if (series.writtenCount === 0) this.#dropped('queue_full');
      return false;
    }
    room.left--;
    series.isQueued = true;
    this.#queue.push(series);
    this.#working ??= this.#work();
    return true;
  }

  /** Writes the rest of the series; the next event of its kind starts another. */
  #finish(key: string, series: Series): void {
    this.#series.delete(key);
    if (series.isUnwritten && !series.isQueued) this.#enqueue(series);
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    for (let series = this.#queue.shift(); series; series = this.#queue.shift()) {
      this.#options.room.left++;
      // Events from here on are for the next turn.
      series.isQueued = false;
      // `close` enqueues a series again while its write is running.
      if (series.isUnwritten) await this.#write(series);
    }
    this.#working = undefined;
    this.#setActive();
  }

  async #write(series: Series): Promise<void> {
    const { metrics, clock, random } = this.#options;
    for (let tries = 1; ; tries++) {
      if (this.#over.signal.aborted) return this.#dropped('closed');
      const wasThere = series.writtenCount > 0;
      try {
        const bound = { clock, timeoutMs: requestTimeoutMs, signal: this.#over.signal };
        await bounded(bound, (signal) => writeEvent(this.#options, series, signal));
        metrics.recorded(wasThere ? 'series' : 'created');
        return;
      } catch (error) {
        const isLast = tries >= triesMax || this.#closing.signal.aborted;
        if (isLast || !mayPass(error) || hasCode(error, 'Fenced')) return this.#dropped('failed', error);
      }
      await sleep(clock, retryMs * (1 + random.fraction() / 4), this.#closing.signal).catch(() => {});
    }
  }

  #sweep(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [key, series] of this.#series) if (nowMs - series.seenMs >= seriesMs) this.#finish(key, series);
    this.#filter.sweep();
    this.#sweeper = undefined;
    this.#setActive();
  }

  #setActive(): void {
    const isClosed = this.#closing.signal.aborted;
    const hasMemory = !isClosed && (this.#series.size > 0 || this.#filter.size > 0);
    if (hasMemory) this.#sweeper ??= this.#options.clock.after(sweepMs, () => this.#sweep());
    const isActive = hasMemory || this.#working !== undefined;
    if (isActive === this.#isActive) return;
    this.#isActive = isActive;
    this.#options.onActive(isActive);
  }

  #dropped(reason: string, error?: unknown): void {
    const { metrics, log } = this.#options;
    metrics.dropped(reason);
    if (error === undefined) return;
    // Logged once as a warning: a missing permission would otherwise be logged with every event.
    const fields = { reason, error: asError(error) };
    if (this.#hasComplained) log?.debug('failed to record an Event', fields);
    else log?.warn('failed to record an Event; further failures are logged at level debug', fields);
    this.#hasComplained = true;
  }
}
