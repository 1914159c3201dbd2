/** Runs the probes of one run of a container: startup first, then liveness and readiness, with thresholds. */

import type { Container, Probe } from '@hangar/client/kinds/core-v1';
import type { Clock, Random, Timer } from '@hangar/core';
import { runProbe } from './probe.ts';
import type { ProbeTarget } from './probe.ts';

export type ProbeName = 'Startup' | 'Liveness' | 'Readiness';

export interface ProberOptions extends ProbeTarget {
  readonly clock: Clock;
  readonly random: Random;
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

class ProbeLoop {
  readonly #options: LoopOptions;
  #timer: Timer;
  #isClosed = false;
  /** Equal results in a row. */
  #run = { isSuccess: false, length: 0 };

  constructor(options: LoopOptions) {
    this.#options = options;
    const { clock, probe } = options;
    this.#timer = clock.after((probe.initialDelaySeconds ?? 0) * secondMs, () => void this.#attempt());
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.cancel();
  }

  async #attempt(): Promise<void> {
    const { clock, name, probe } = this.#options;
    const { timeoutSeconds = 1, periodSeconds = 10, failureThreshold = 3, successThreshold = 1 } = probe;
    const { isSuccess, output } = await runProbe(probe, this.#options, timeoutSeconds * secondMs);
    if (this.#isClosed) return;
    const length = this.#run.isSuccess === isSuccess ? this.#run.length + 1 : 1;
    this.#run = { isSuccess, length };
    if (!isSuccess) this.#options.onUnhealthy(name, output);
    if (length >= (isSuccess ? successThreshold : failureThreshold)) this.#options.onResult(isSuccess);
    if (!this.#isClosed) this.#timer = clock.after(periodSeconds * secondMs, () => void this.#attempt());
  }
}
