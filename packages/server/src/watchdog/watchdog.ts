/**
 * Watches the event loop of the thread that creates it: detects stalls and the activity that caused each of them.
 *
 *   contract.ts          beats, samples, stalls; the limits
 *   stall.ts             from beats and samples to the activity that took the time
 *   watchdog-thread.ts   detects late beats, writes the journal
 *   sampler.ts           interrupts the watched thread for samples
 *   crash-journal.ts     the activity during which the process exited, for the next start
 *   stall-policy.ts      when a tenant is quarantined, and for how long
 *
 * One per process: the thread interrupts the main thread. Both sleep while no activity begins. Costs: docs/adr/0029.
 */

import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { activitiesBegun, currentActivity, onNextActivity } from '@hangar/core';
import type { Activity } from '@hangar/core';
import { beatEveryMs, sampledTextMax, sampleHook } from './contract.ts';
import type { Beat, Sample, SampledActivity, Stall, WatchdogThreadData } from './contract.ts';
import type { CrashJournal } from './crash-journal.ts';
import { SharedBeat, sharedClockMs, threadCpuMs } from './shared-beat.ts';
import { stallOf, withoutPauses } from './stall.ts';
import type { Pause } from './stall.ts';

export interface WatchdogOptions {
  /** Called after each stall, on the watched thread. */
  readonly onStall: (stall: Stall) => void;
  /** Journal of the running activity for the next start. Absent: none. */
  readonly journal?: { readonly file: string; readonly journal: CrashJournal };
  /** Receives errors of `onStall` and of the thread. Without the thread, stalls are measured and their cause is unknown. */
  readonly onError?: (error: Error) => void;
}

/** Shorter pauses are caused by the activity's own garbage. */
const pauseMinMs = 20;
const pausesMax = 64;
/** Beats without a new activity after which the watchdog sleeps. */
const quietBeatsMax = 40;

export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #shared = new SharedBeat();
  readonly #thread: Worker;
  #timer: NodeJS.Timeout | undefined;
  readonly #collections: PerformanceObserver;
  /** Offset between this thread's `performance.now` and the clock of all threads. */
  readonly #offsetMs = sharedClockMs() - performance.now();
  #pauses: Pause[] = [];
  #beat: Beat;
  #samples: Sample[] = [];
  #sampleIds = 0;
  #begun = 0;
  #quietBeats = 0;
  #isExceptionJournalled = false;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    Reflect.set(globalThis, Symbol.for(sampleHook), this.#hook);
    process.on('uncaughtExceptionMonitor', this.#onException);
    process.on('exit', this.#onExit);
    this.#collections = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) this.#paused(startTime, duration);
    });
    this.#collections.observe({ entryTypes: ['gc'] });
    this.#beat = this.#start();
    const cache = getCompileCacheDir();
    const workerData: WatchdogThreadData = {
      beat: this.#shared.buffer,
      journalFile: options.journal?.file,
      ...(cache === undefined ? {} : { compileCache: dirname(cache) }),
    };
    this.#thread = new Worker(new URL('./watchdog-entry.js', import.meta.url), {
      workerData,
      name: 'watchdog',
      resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
    });
    this.#thread.unref();
    this.#thread.on('error', (error) => options.onError?.(error as Error));
    this.#thread.on('message', (error) => options.journal?.journal.failed(error as Error));
  }

  /** False if no activity began for a while. */
  get isAwake(): boolean {
    return this.#timer !== undefined;
  }

  async close(): Promise<void> {
    this.#stop();
    onNextActivity(undefined);
    this.#collections.disconnect();
    process.off('uncaughtExceptionMonitor', this.#onException);
    process.off('exit', this.#onExit);
    const hook = Symbol.for(sampleHook);
    if (Reflect.get(globalThis, hook) === this.#hook) Reflect.deleteProperty(globalThis, hook);
    await this.#thread.terminate();
    this.#options.journal?.journal.remove();
  }

  #start(): Beat {
    this.#shared.start();
    this.#quietBeats = 0;
    this.#samples = [];
    this.#timer = setInterval(() => this.#beats(), beatEveryMs);
    this.#timer.unref();
    return (this.#beat = this.#shared.read());
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#shared.stop();
  }

  /** An idle process neither beats nor checks. */
  #sleepIfQuiet(): void {
    const begun = activitiesBegun();
    this.#quietBeats = begun === this.#begun ? this.#quietBeats + 1 : 0;
    this.#begun = begun;
    if (this.#quietBeats < quietBeatsMax) return;
    this.#stop();
    onNextActivity(() => void this.#start());
  }

  #beats(): void {
    const before = this.#beat;
    const samples = this.#samples;
    this.#shared.beat();
    this.#beat = this.#shared.read();
    this.#samples = [];
    const stall = stallOf({ before, samples, beat: this.#beat });
    // Pauses of the garbage collector are reported in the next turn.
    this.#sleepIfQuiet();
    if (stall) setImmediate(() => setImmediate(() => this.#report(stall)));
  }

  #report(stall: Stall): void {
    const { onStall, onError } = this.#options;
    try {
      onStall(withoutPauses(stall, this.#pauses));
    } catch (error) {
      onError?.(error as Error);
    }
  }

  #sample(askedMs: number): Sample {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    const { count } = this.#shared;
    const activity = this.#sampled(currentActivity());
    const sample = { count, askedMs, atMs: sharedClockMs(), cpuMs: threadCpuMs(), heapUse: used / limit, activity };
    this.#samples.push(sample);
    return sample;
  }

  #sampled(activity: Activity | undefined): SampledActivity | undefined {
    if (!activity) return undefined;
    activity.sampleId ||= ++this.#sampleIds;
    const { tenant, user, verb, resource, isAccountable } = activity;
    return { id: activity.sampleId, tenant, user: cut(user), verb: cut(verb), resource: cut(resource), isAccountable };
  }

  #paused(startMs: number, durationMs: number): void {
    if (durationMs < pauseMinMs) return;
    const fromMs = startMs + this.#offsetMs;
    this.#pauses.push({ fromMs, untilMs: fromMs + durationMs });
    if (this.#pauses.length > pausesMax) this.#pauses.shift();
  }

  readonly #hook = (askedMs: number): string => JSON.stringify(this.#sample(askedMs));

  /** An intended exit is not a crash of the running activity. */
  readonly #onExit = (): void => {
    this.#shared.end();
    if (!this.#isExceptionJournalled) this.#options.journal?.journal.remove();
  };

  readonly #onException = (error: unknown): void => {
    this.#shared.end();
    const activity = this.#sampled(currentActivity());
    if (!activity?.isAccountable) return;
    const reason = cut(`uncaught exception: ${String((error as Error | undefined)?.message ?? error)}`);
    this.#options.journal?.journal.write({ activity, at: Date.now(), isCertain: true, reason });
    this.#isExceptionJournalled = true;
  };
}

const cut = (text: string): string => (text.length > sampledTextMax ? `${text.slice(0, sampledTextMax)}…` : text);
