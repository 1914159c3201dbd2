/**
 * Decides when this process exits: on SIGTERM or SIGINT, or on an unhandled rejection. In both cases it shuts down gracefully first, within
 * a time limit; a second signal exits at once. Programs never outlive this process: their keepers ensure that.
 */

import { asError } from '@hangar/core';
import type { Clock, Logger, Timer } from '@hangar/core';

const signals = ['SIGTERM', 'SIGINT'] as const;
/** One Ctrl-C arrives more than once: from the terminal to all its processes, and from npm or another Node, which forward it. */
const sameMs = 300;

export interface ProcessEndOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Time limit of a graceful shutdown. */
  readonly withinMs: number;
  /** Absent: this process. */
  readonly process?: Pick<NodeJS.Process, 'on' | 'off' | 'exit'> | undefined;
}

export class ProcessEnd {
  readonly #options: ProcessEndOptions;
  readonly #process: Pick<NodeJS.Process, 'on' | 'off' | 'exit'>;
  readonly #asked = new AbortController();
  readonly #onSignal = (name: string): void => this.#received(name);
  readonly #onFailure = (error: unknown): void => this.#failed(error);
  #askedAtMs = 0;
  #hasFailed = false;
  #limit: Timer | undefined;

  constructor(options: ProcessEndOptions) {
    this.#options = options;
    this.#process = options.process ?? process;
    for (const name of signals) this.#process.on(name, this.#onSignal);
    this.#process.on('uncaughtException', this.#onFailure);
    this.#process.on('unhandledRejection', this.#onFailure);
  }

  /** Fires when the process is to exit. */
  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  /** An unhandled rejection occurred. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Called when the shutdown is complete. */
  close(): void {
    this.#limit?.cancel();
    for (const name of signals) this.#process.off(name, this.#onSignal);
    this.#process.off('uncaughtException', this.#onFailure);
    this.#process.off('unhandledRejection', this.#onFailure);
  }

  #received(name: string): void {
    const { clock, log } = this.#options;
    if (!this.signal.aborted) {
      log.info(`received ${name}, shutting down`);
      return this.#ask(new Error(`the process received ${name}`));
    }
    if (clock.monotonicMs() - this.#askedAtMs >= sameMs) this.#process.exit(1);
  }

  #failed(error: unknown): void {
    this.#options.log.error('unhandled error, shutting down', { error: asError(error) });
    this.#hasFailed = true;
    this.#ask(asError(error));
  }

  #ask(reason: Error): void {
    const { clock, log, withinMs } = this.#options;
    if (this.signal.aborted) return;
    this.#askedAtMs = clock.monotonicMs();
    this.#limit = clock.after(withinMs, () => {
      log.error('shutdown timed out, exiting', { withinMs });
      this.#process.exit(1);
    });
    this.#asked.abort(reason);
  }
}
