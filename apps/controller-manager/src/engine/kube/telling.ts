/** Formats the states that a supervisor reports of its program. */

import type { ServiceState } from '../../contract.ts';
import type { Complaint } from './probe.ts';
import type { Reports } from './reports.ts';
import type { Target } from './wanted.ts';
import { seconds } from './words.ts';

export class Telling {
  readonly #name: string;
  readonly #reports: Reports;

  /** `name`: of the program. */
  constructor(name: string, reports: Reports) {
    this.#name = name;
    this.#reports = reports;
  }

  say(phase: ServiceState['phase'], reason: string, message: string): void {
    this.#reports.say(phase, reason, message);
  }

  stopping(): void {
    this.say('Stopping', 'Stopping', `stopping ${this.#name}`);
  }

  /** `isAgain`: a program with another kubeconfig still runs. */
  starting({ config }: Target, isAgain: boolean): void {
    const reason = isAgain ? 'Restarting' : 'Starting';
    this.say('Starting', reason, `starting ${this.#name} for ${config.server}`);
  }

  started(): void {
    this.say('Starting', 'Starting', `waiting for ${this.#name} to become healthy`);
  }

  ready({ config }: Target): void {
    this.say('Ready', 'Running', `${this.#name} is running for ${config.server}`);
  }

  /** The cluster does not answer. `isRunning`: a program with another kubeconfig runs. */
  unanswered({ reason, message }: NonNullable<Complaint>, isRunning: boolean): void {
    this.#reports.lastError(message);
    const goesOn = isRunning ? `; ${this.#name} keeps running with the previous kubeconfig` : '';
    this.say('Waiting', reason, message + goesOn);
  }

  /** Several consecutive probes failed: the cluster, or else the program, is unhealthy. */
  struck({ reason, message }: NonNullable<Complaint>, isOfCluster: boolean): void {
    this.#reports.lastError(message);
    if (isOfCluster) this.say('Waiting', reason, `${message}; ${this.#name} keeps running`);
    else this.say('Waiting', 'Unhealthy', `${this.#name} is unhealthy: ${message}`);
  }

  backingOff(reason: string, message: string, delayMs: number): void {
    this.say('BackingOff', reason, `${message}; retrying in ${seconds(delayMs)}`);
  }
}
