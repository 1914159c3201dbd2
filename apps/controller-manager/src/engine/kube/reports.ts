/** Composes the state of a service, and reports it when it changes. */

import type { ServiceProcess, ServiceState } from '../../contract.ts';

/** A problem of a running service. */
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

  /** Reported while the service runs. Undefined: resolved. */
  notice(notice: Notice | undefined): void {
    this.#notice = notice;
    this.#tell();
  }

  /** Included in the next report. */
  process(process: ServiceProcess | undefined, restarts = this.#state.restarts): void {
    this.#state = { ...this.#state, process, restarts };
  }

  /** Included in the next report. */
  lastError(lastError: string): void {
    this.#state = { ...this.#state, lastError };
  }

  /** Stops reporting. */
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
