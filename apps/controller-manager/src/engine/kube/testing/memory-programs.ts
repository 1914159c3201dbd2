/**
 * Simulates programs in memory, in virtual time. Violated invariants (two programs of one cluster at a time, a start without ownership) are
 * recorded in `violations`.
 */

import { ClientError } from '@hangar/client';
import { asError, sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { ProgramEnd, ProgramOptions, Programs, RunningProgram } from '../../../child/contract.ts';

/** Behaviour of programs from now on. */
export interface Behaviour {
  /** Duration of `start`. */
  startMs: number;
  /** Time until it is healthy. */
  bootMs: number;
  /** Time from the termination request to the exit. */
  endMs: number;
  /** Error that `start` rejects with. */
  refusal: string | undefined;
  /** It exits by itself after this time. */
  livesMs: number | undefined;
}

export class MemoryPrograms implements Programs {
  readonly behaviour: Behaviour = { startMs: 5, bootMs: 2_500, endMs: 250, refusal: undefined, livesMs: undefined };
  readonly running = new Map<number, MemoryProgram>();
  readonly violations: string[] = [];
  /** All programs so far, in order. */
  readonly all: MemoryProgram[] = [];
  /** Maximum number of programs that started at the same time. */
  bootingMax = 0;
  readonly #clock: Clock;
  readonly #taken = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  cleanUp(): Promise<number> {
    return Promise.resolve(0);
  }

  async start(options: ProgramOptions): Promise<RunningProgram> {
    const key = `${options.cluster}/${options.service}`;
    if (this.#taken.has(key)) this.violations.push(`two of ${key} at a time`);
    this.#taken.add(key);
    try {
      options.ownership.check();
    } catch (error) {
      this.violations.push(`started although ${asError(error).message}`);
    }
    const behaviour = { ...this.behaviour };
    await sleep(this.#clock, behaviour.startMs);
    if (behaviour.refusal !== undefined) {
      this.#taken.delete(key);
      throw new Error(behaviour.refusal);
    }
    const program = new MemoryProgram(options, 20_000 + this.all.length, behaviour, this.#clock);
    this.all.push(program);
    this.running.set(program.port, program);
    void program.ended.then(() => {
      this.running.delete(program.port);
      this.#taken.delete(key);
    });
    const booting = [...this.running.values()].filter(({ isUp }) => !isUp).length;
    this.bootingMax = Math.max(this.bootingMax, booting);
    return program;
  }

  /** Returns the status of the health endpoint at the port. */
  statusAt(port: number): number {
    const program = this.running.get(port);
    if (!program?.isUp)
      throw new ClientError('ConnectionFailed', `https://127.0.0.1:${port} cannot be reached: refused`);
    return program.status;
  }

  /** Returns the running program. */
  of(cluster: string): MemoryProgram | undefined {
    return this.running.values().find(({ options }) => options.cluster === cluster);
  }
}

export class MemoryProgram implements RunningProgram {
  readonly options: ProgramOptions;
  readonly folder: string;
  readonly port: number;
  readonly pid: number;
  readonly startedAt: Date;
  readonly ended: Promise<ProgramEnd>;
  readonly arguments: readonly string[];
  readonly startedMs: number;
  /** Health status once it has started. */
  status = 200;
  graceMs: number | undefined;
  readonly #behaviour: Behaviour;
  readonly #clock: Clock;
  readonly #end: (end: ProgramEnd) => void;

  constructor(options: ProgramOptions, port: number, behaviour: Behaviour, clock: Clock) {
    this.options = options;
    this.port = port;
    this.pid = port * 10;
    this.folder = `/programs/${options.cluster}`;
    this.startedAt = new Date(clock.now());
    this.startedMs = clock.monotonicMs();
    this.arguments = options.arguments(this);
    this.#behaviour = behaviour;
    this.#clock = clock;
    const { promise, resolve } = Promise.withResolvers<ProgramEnd>();
    this.ended = promise;
    this.#end = resolve;
    if (behaviour.livesMs !== undefined) clock.after(behaviour.livesMs, () => this.exit({ code: 1 }));
  }

  get isUp(): boolean {
    return this.#clock.monotonicMs() - this.startedMs >= this.#behaviour.bootMs;
  }

  get kubeconfig(): string {
    return this.options.files['kubeconfig']!;
  }

  exit(end: Partial<ProgramEnd> = {}): void {
    this.#end({ cause: 'exited', code: undefined, signal: undefined, lastError: undefined, ...end });
  }

  async stop(graceMs: number): Promise<void> {
    this.graceMs ??= graceMs;
    this.#clock.after(Math.min(graceMs, this.#behaviour.endMs), () => this.exit({ cause: 'stopped' }));
    await this.ended;
  }
}
