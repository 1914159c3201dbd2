/**
 * Group commit: commands that wait at the same time become durable together, with one sync. The longer the disk takes,
 * the larger the next group, so throughput does not fall with latency.
 *
 * Order is the invariant: commands are executed, and their outcomes come back, in the order of submission. One group is
 * under way at a time: a second one in the pipeline was measured to be slower, because two half-sized groups cost two syncs.
 */

import { StoreError } from '../errors.ts';
import type { Command, Outcome } from './command.ts';

export interface GroupCommitOptions {
  /** Executes the commands and makes them durable as one. Rejects when nothing of the group happened for sure, or might have. */
  commit(group: readonly Command[]): Promise<readonly Outcome[]>;
  /** Sees each outcome, in order, before the one who submitted the command does. */
  onOutcome(command: Command, outcome: Outcome): void;
  /** A group takes this many commands, and bytes of values unless a single command has more. */
  groupLengthMax?: number;
  groupBytesMax?: number;
  /** What may wait for a group; beyond it `submit` rejects with `Overloaded`. */
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

  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void> {
    if (!this.#underWay && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** A microtask later, so that everyone who submits in this turn is in the same group. */
  #handOverSoon(): void {
    if (this.#handOverDue || this.#underWay) return;
    this.#handOverDue = true;
    queueMicrotask(() => {
      this.#handOverDue = false;
      this.#handOver();
    });
  }

  #handOver(): void {
    if (this.#waiting.length === 0) return;
    const group = this.#nextGroup();
    this.#underWay = true;
    this.#options
      .commit(group.map((ticket) => ticket.command))
      .then(
        (outcomes) => this.#settle(group, outcomes),
        (error: Error) => {
          for (const ticket of group) ticket.reject(error);
        },
      )
      .finally(() => {
        this.#underWay = false;
        if (this.#waiting.length > 0) this.#handOverSoon();
        if (this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
      });
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
