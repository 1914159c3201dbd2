/** What is told of a service: put together of what is known of it, and only when it is another than before. */

import type { ServiceProcess, ServiceState } from '../../contract.ts';

/** Something that is wrong although it works. */
export interface Notice {
  readonly reason: string;
  readonly message: string;
}

export class Reports {
  readonly #report: (state: ServiceState) => void;
  #state: ServiceState = { phase: 'Waiting', reason: '', message: '', restarts: 0 };
  #notice: Notice | undefined;
  #told: string | undefined;
  #isClosed = false;

  constructor(report: (state: ServiceState) => void) {
    this.#report = report;
  }

  say(phase: ServiceState['phase'], reason: string, message: string): void {
    this.#state = { ...this.#state, phase, reason, message };
    this.#tell();
  }

  /** Told while it is at work. Undefined: no longer. */
  notice(notice: Notice | undefined): void {
    this.#notice = notice;
    this.#tell();
  }

  /** Told with what is said next. */
  process(process: ServiceProcess | undefined, restarts = this.#state.restarts): void {
    this.#state = { ...this.#state, process, restarts };
  }

  /** Told with what is said next. */
  lastError(lastError: string): void {
    this.#state = { ...this.#state, lastError };
  }

  /** Nothing is told any more. */
  close(): void {
    this.#isClosed = true;
  }

  #tell(): void {
    const { phase, reason, message } = this.#state;
    if (this.#isClosed || reason === '') return;
    const isNoticed = phase === 'Ready' && this.#notice !== undefined;
    const state = isNoticed
      ? { ...this.#state, reason: this.#notice!.reason, message: `${message}; warning: ${this.#notice!.message}` }
      : this.#state;
    const told = JSON.stringify(state);
    if (told === this.#told) return;
    this.#told = told;
    this.#report(state);
  }
}
