/** What a supervisor says of its program, in words. */

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
    this.say('Stopping', 'Stopping', `${this.#name} is being stopped`);
  }

  /** `isAgain`: one with another kubeconfig still runs. */
  starting({ config }: Target, isAgain: boolean): void {
    const reason = isAgain ? 'Restarting' : 'Starting';
    this.say('Starting', reason, `${this.#name} is to be started for ${config.server}`);
  }

  started(): void {
    this.say('Starting', 'Starting', `${this.#name} was started and is not up yet`);
  }

  ready({ config }: Target): void {
    this.say('Ready', 'Running', `${this.#name} is at work in ${config.server}`);
  }

  /** The cluster does not answer. `isRunning`: one with another kubeconfig does. */
  unanswered({ reason, message }: NonNullable<Complaint>, isRunning: boolean): void {
    this.#reports.lastError(message);
    const goesOn = isRunning ? `; ${this.#name} goes on with the kubeconfig of before` : '';
    this.say('Waiting', reason, message + goesOn);
  }

  /** It was no accident: the cluster, or else the program, is not well. */
  struck({ reason, message }: NonNullable<Complaint>, isOfCluster: boolean): void {
    this.#reports.lastError(message);
    if (isOfCluster) this.say('Waiting', reason, `${message}; ${this.#name} goes on`);
    else this.say('Waiting', 'Unhealthy', `${this.#name} does not say that it is well: ${message}`);
  }

  backingOff(reason: string, message: string, delayMs: number): void {
    this.say('BackingOff', reason, `${message}; it is tried again in ${seconds(delayMs)}`);
  }
}
