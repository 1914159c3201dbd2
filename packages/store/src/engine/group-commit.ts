/**
 * Group commit: commands that wait at the same time become durable together, with one sync. The longer the disk takes, the larger the next
 * group, so throughput does not fall with latency.
 *
 * Order is the invariant: commands are executed, and their outcomes come back, in the order of submission. One group is in progress at a
 * time: a second one in the pipeline was measured to be slower, because two half-sized groups cost two syncs.
 *
 * A group is gathered until the turn of the event loop ends: the commands that sixteen sockets delivered in one turn are one group.
 * Gathered only until the end of the first one's microtasks, they were a group of one and then one of fifteen, with a sync and two messages
 * between threads for each. Commands submitted while a group is in progress are committed as soon as it completes.
 */

import type { Clock } from '@hangar/core';
import { StoreError } from '../errors.ts';
import type { Command, Outcome } from './command.ts';

export interface GroupCommitOptions {
  readonly clock: Pick<Clock, 'soon'>;
  /** Executes the commands and makes them durable as one. Rejects if the group certainly did not happen, or may have. */
  commit(group: readonly Command[]): Promise<readonly Outcome[]>;
  /** Called with each outcome, in order, before the submitter receives it. */
  onOutcome(command: Command, outcome: Outcome): void;
  /** Limits of a group in commands and bytes of values. A single command may have more bytes. */
  groupLengthMax?: number;
  groupBytesMax?: number;
  /** Limits of the queue; beyond them `submit` rejects with `Overloaded`. */
  waitingLengthMax?: number;
  waitingBytesMax?: number;
}

const megabyte = 1024 * 1024;
const defaults = {
  groupLengthMax: 512,
  groupBytesMax: 8 * megabyte,
  waitingLengthMax: 65_536,
  waitingBytesMax: 256 * megabyte,
};

interface Ticket {
  readonly command: Command;
  readonly bytes: number;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

export class GroupCommit {
  readonly #options: Required<GroupCommitOptions>;
  #waiting: Ticket[] = [];
  #waitingBytes = 0;
  #underWay = false;
  #handOverDue = false;
  #idle: (() => void)[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = { ...defaults, ...options };
  }

  submit(command: Command): Promise<Outcome> {
    const { waitingLengthMax, waitingBytesMax } = this.#options;
    if (this.#waiting.length >= waitingLengthMax || this.#waitingBytes >= waitingBytesMax) {
      return Promise.reject(
        new StoreError(
          'Overloaded',
          `${this.#waiting.length} commits with ${this.#waitingBytes} bytes are waiting already`,
        ),
      );
    }
    return new Promise((resolve, reject) => {
      const bytes = bytesOf(command);
      this.#waitingBytes += bytes;
      this.#waiting.push({ command, bytes, resolve, reject });
      this.#handOverSoon();
    });
  }

  /** Resolves when no command is waiting or in progress. */
  idle(): Promise<void> {
    if (!this.#underWay && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Runs at the end of this turn, so that all commands submitted in it are in the same group. */
  #handOverSoon(): void {
    if (this.#handOverDue || this.#underWay) return;
    this.#handOverDue = true;
    this.#options.clock.soon(() => {
      this.#handOverDue = false;
      if (!this.#underWay) this.#handOver();
    });
  }

  #handOver(): void {
    if (this.#waiting.length === 0) return;
    const group = this.#nextGroup();
    this.#underWay = true;
    this.#options.commit(group.map((ticket) => ticket.command)).then(
      (outcomes) => this.#ended(() => this.#settle(group, outcomes)),
      (error: Error) =>
        this.#ended(() => {
          for (const ticket of group) ticket.reject(error);
        }),
    );
  }

  /** Starts the next group before this one is settled: the disk is busy while the callers are notified. */
  #ended(settle: () => void): void {
    this.#underWay = false;
    this.#handOver();
    settle();
    if (!this.#underWay && this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #nextGroup(): Ticket[] {
    const { groupLengthMax, groupBytesMax } = this.#options;
    let length = 0;
    let bytes = 0;
    while (length < this.#waiting.length && length < groupLengthMax) {
      const next = this.#waiting[length]!;
      if (length > 0 && bytes + next.bytes > groupBytesMax) break;
      bytes += next.bytes;
      length++;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, length);
  }

  #settle(group: readonly Ticket[], outcomes: readonly Outcome[]): void {
    group.forEach((ticket, place) => {
      const outcome = outcomes[place]!;
      this.#options.onOutcome(ticket.command, outcome);
      ticket.resolve(outcome);
    });
  }
}

function bytesOf(command: Command): number {
  if (command.type !== 'transaction') return 0;
  let bytes = 0;
  for (const write of command.writes) if (write.type === 'put') bytes += write.value.length;
  return bytes;
}
