/**
 * Keeps a service of the process running without affecting the rest: a failure is logged, and the service is restarted after a delay that
 * doubles with each consecutive failure. After a minute without failure the delay is reset.
 */

import { asError, backOffMs, Counter, Gauge, labelText, sleep } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';

export interface SupervisedService {
  readonly name: string;
  /** Runs until the signal. Called again for each restart. An earlier return is a failure, too. */
  run(signal: AbortSignal, running: () => void): Promise<void>;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const backOff = { baseMs: 500, maxMs: 30_000 };
const wellAfterMs = 60_000;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #restarts = new Counter(
    'hangar_service_restarts_total',
    'Restarts of the services of this process after a failure.',
  );
  readonly #up = new Gauge('hangar_service_up', 'Whether a service of this process is running.');
  readonly #problems = new Map<string, string>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** In Prometheus' format. */
  text(): string {
    return [this.#restarts.text(), this.#up.text()].join('\n');
  }

  /** Returns why it does not run; undefined when it runs, or was never started. */
  problem(name: string): string | undefined {
    return this.#problems.get(name);
  }

  /** Resolves when it has stopped because of the signal. Never rejects. */
  async run({ name, run }: SupervisedService, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    this.#restarts.add(labelsOf(name), 0);
    this.#set(name, 'the service is starting');
    for (let failures = 0; !signal.aborted;) {
      const begunMs = clock.monotonicMs();
      const error = await this.#once(() => run(signal, () => this.#set(name, undefined)));
      this.#set(name, 'the service is not running');
      if (signal.aborted) {
        if (error && !isAbort(error)) log.error('a service failed during shutdown', { service: name, error });
        return;
      }
      failures = clock.monotonicMs() - begunMs >= wellAfterMs ? 1 : failures + 1;
      const waitMs = Math.round(backOffMs(backOff, failures, random));
      log.error('a service failed, restarting', {
        service: name,
        error: error ?? new Error('the service exited'),
        waitMs,
      });
      this.#restarts.add(labelsOf(name));
      await sleep(clock, waitMs, signal).catch(() => undefined);
    }
  }

  /** Resolves with its error. */
  async #once(run: () => Promise<void>): Promise<Error | undefined> {
    try {
      await run();
      return undefined;
    } catch (error) {
      return asError(error);
    }
  }

  #set(name: string, problem: string | undefined): void {
    if (problem === undefined) this.#problems.delete(name);
    else this.#problems.set(name, problem);
    this.#up.set(labelsOf(name), problem === undefined ? 1 : 0);
  }
}

const labelsOf = (service: string): string => labelText({ service });

const isAbort = (error: Error): boolean => (error as { code?: unknown }).code === 'Aborted';
