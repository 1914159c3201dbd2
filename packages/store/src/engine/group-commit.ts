/**
 * Group commit: commands that wait at the same time become durable together, with one sync. The longer the disk takes,
 * the larger the next group, so throughput does not fall with latency.
 *
 * Order is the invariant: groups are handed over, and their outcomes come back, in the order of submission.
 */

import { StoreError } from '../errors.ts';
import type { Command, Outcome } from './command.ts';

export interface GroupCommitOptions {
  /** Executes the commands and makes them durable as one. Rejects when nothing of the group happened for sure, or might have. */
  commit(group: readonly Command[]): Promise<readonly Outcome[]>;
  /** Sees each outcome, in order, before the one who submitted the command does. */
  onOutcome(command: Command, outcome: Outcome): void;
  /** Groups handed over and not yet answered; more than one only where `commit` keeps their order. */
  inFlightMax?: number;
  groupLengthMax?: number;
  /** Commands that wait for a group; beyond it `submit` rejects with `Overloaded`. */
  waitingMax?: number;
}

interface Ticket {
  readonly command: Command;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

export class GroupCommit {
  readonly #options: Required<GroupCommitOptions>;
  #waiting: Ticket[] = [];
  #inFlight = 0;
  #handOverDue = false;
  #idle: (() => void)[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = { inFlightMax: 1, groupLengthMax: 512, waitingMax: 65_536, ...options };
  }

  submit(command: Command): Promise<Outcome> {
    if (this.#waiting.length >= this.#options.waitingMax) {
      return Promise.reject(new StoreError('Overloaded', `${this.#waiting.length} commits are waiting already`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, resolve, reject });
      this.#handOverSoon();
    });
  }

  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void> {
    if (this.#inFlight === 0 && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** A microtask later, so that everyone who submits in this turn is in the same group. */
  #handOverSoon(): void {
    if (this.#handOverDue || this.#inFlight >= this.#options.inFlightMax) return;
    this.#handOverDue = true;
    queueMicrotask(() => {
      this.#handOverDue = false;
      this.#handOver();
    });
  }

  #handOver(): void {
    if (this.#waiting.length === 0 || this.#inFlight >= this.#options.inFlightMax) return;
    const group =
      this.#waiting.length <= this.#options.groupLengthMax
        ? this.#waiting
        : this.#waiting.slice(0, this.#options.groupLengthMax);
    this.#waiting = group === this.#waiting ? [] : this.#waiting.slice(group.length);
    this.#inFlight++;
    this.#options
      .commit(group.map((ticket) => ticket.command))
      .then(
        (outcomes) => this.#settle(group, outcomes),
        (error: Error) => {
          for (const ticket of group) ticket.reject(error);
        },
      )
      .finally(() => {
        this.#inFlight--;
        this.#handOverSoon();
        if (this.#inFlight === 0 && this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
      });
  }

  #settle(group: readonly Ticket[], outcomes: readonly Outcome[]): void {
    group.forEach((ticket, place) => {
      const outcome = outcomes[place]!;
      this.#options.onOutcome(ticket.command, outcome);
      ticket.resolve(outcome);
    });
  }
}
