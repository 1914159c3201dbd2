/**
 * Runs the probes of one run of a container: startup first, then liveness and readiness, with thresholds. While a container starts, its
 * startup and readiness probes are also tried between their periods, so that a pod is ready as soon as its program is. Only the success
 * of such an attempt counts: thresholds and Events of failures follow the periods.
 */

import type { Container, Probe } from '@hangar/client/kinds/core-v1';
import type { Clock, Random, Timer } from '@hangar/core';
import { runProbe } from './probe.ts';
import type { ProbeResult, ProbeTarget } from './probe.ts';

export type ProbeName = 'Startup' | 'Liveness' | 'Readiness';

export interface ProberOptions extends ProbeTarget {
  readonly clock: Clock;
  readonly random: Random;
  /** Absent: `runProbe`. */
  readonly attempt?: typeof runProbe | undefined;
  /** Called after each attempt. */
  onAttempt?(name: ProbeName, isSuccess: boolean): void;
  /** Called after a failed attempt, for an Event. */
  onUnhealthy(name: ProbeName, output: string): void;
  /** Called when `isStarted` or `isReady` changes. */
  onChange(): void;
  /** Called once when a startup or liveness probe failed as often as its threshold. */
  onDead(name: 'Startup' | 'Liveness', probe: Probe): void;
}

export class Prober {
  readonly #options: ProberOptions;
  readonly #loops: ProbeLoop[] = [];
  #isClosed = false;
  isStarted: boolean;
  isReady: boolean;

  constructor(options: ProberOptions) {
    this.#options = options;
    const { startupProbe, readinessProbe } = options.container;
    this.isStarted = !startupProbe;
    this.isReady = !startupProbe && !readinessProbe;
    if (startupProbe) this.#add('Startup', startupProbe);
    else this.#probeRunning();
  }

  close(): void {
    this.#isClosed = true;
    for (const loop of this.#loops) loop.close();
  }

  #add(name: ProbeName, probe: Probe): void {
    const onResult = (isSuccess: boolean): void => {
      if (!this.#isClosed) this.#settle(name, probe, isSuccess);
    };
    this.#loops.push(new ProbeLoop({ ...this.#options, name, probe, onResult }));
  }

  #probeRunning(): void {
    const { livenessProbe, readinessProbe }: Container = this.#options.container;
    if (livenessProbe) this.#add('Liveness', livenessProbe);
    if (readinessProbe) this.#add('Readiness', readinessProbe);
  }

  #settle(name: ProbeName, probe: Probe, isSuccess: boolean): void {
    if (name === 'Readiness') {
      if (this.isReady === isSuccess) return;
      this.isReady = isSuccess;
    } else if (!isSuccess) {
      this.close();
      this.#options.onDead(name, probe);
      return;
    } else if (name === 'Startup' && !this.isStarted) {
      for (const loop of this.#loops.splice(0)) loop.close();
      this.isStarted = true;
      this.isReady = !this.#options.container.readinessProbe;
      this.#probeRunning();
    } else {
      return;
    }
    this.#options.onChange();
  }
}

interface LoopOptions extends ProberOptions {
  readonly name: ProbeName;
  readonly probe: Probe;
  /** Called whenever a threshold is reached. */
  onResult(isSuccess: boolean): void;
}

const secondMs = 1_000;
/** Attempts between periods: for this time, and after these delays. A refused connection costs less than a response. */
const eagerForMs = 60_000;
const eagerDelayMs = { refused: 50, failed: 250 };

class ProbeLoop {
  readonly #options: LoopOptions;
  readonly #eagerUntilMs: number;
  #timer: Timer;
  #isClosed = false;
  /** Equal results in a row. */
  #run = { isSuccess: false, length: 0 };

  constructor(options: LoopOptions) {
    this.#options = options;
    const { clock, name, probe } = options;
    const delayMs = (probe.initialDelaySeconds ?? 0) * secondMs;
    // Commands are not run more often than requested: each is a process.
    const isEager = name !== 'Liveness' && !probe.exec && (probe.successThreshold ?? 1) === 1;
    this.#eagerUntilMs = isEager ? clock.monotonicMs() + delayMs + eagerForMs : Number.NEGATIVE_INFINITY;
    this.#timer = clock.after(delayMs, () => void this.#attempt());
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.cancel();
  }

  async #attempt(): Promise<void> {
    const { clock, name, probe } = this.#options;
    const { periodSeconds = 10, failureThreshold = 3, successThreshold = 1 } = probe;
    const result = await this.#probe();
    if (this.#isClosed) return;
    const { isSuccess, output } = result;
    const length = this.#run.isSuccess === isSuccess ? this.#run.length + 1 : 1;
    this.#run = { isSuccess, length };
    if (!isSuccess) this.#options.onUnhealthy(name, output);
    if (length >= (isSuccess ? successThreshold : failureThreshold)) this.#options.onResult(isSuccess);
    this.#schedule(result, clock.monotonicMs() + periodSeconds * secondMs);
  }

  /** Waits for the next period, or for the next attempt before it. */
  #schedule(result: ProbeResult, periodAtMs: number): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    const now = clock.monotonicMs();
    const eagerMs = result.isRefused ? eagerDelayMs.refused : eagerDelayMs.failed;
    const isEager = !this.#run.isSuccess && now < this.#eagerUntilMs && now + eagerMs < periodAtMs;
    this.#timer = isEager
      ? clock.after(eagerMs, () => void this.#attemptEarly(periodAtMs))
      : clock.after(Math.max(0, periodAtMs - now), () => void this.#attempt());
  }

  async #attemptEarly(periodAtMs: number): Promise<void> {
    const result = await this.#probe();
    if (this.#isClosed) return;
    if (result.isSuccess) {
      this.#run = { isSuccess: true, length: 1 };
      this.#options.onResult(true);
    }
    this.#schedule(result, periodAtMs);
  }

  async #probe(): Promise<ProbeResult> {
    const { name, probe, attempt = runProbe } = this.#options;
    const result = await attempt(probe, this.#options, (probe.timeoutSeconds ?? 1) * secondMs);
    this.#options.onAttempt?.(name, result.isSuccess);
    return result;
  }
}
