/**
 * One program, from its start until nothing of it is left. Its time is extended every second, while the ownership can be proven. The first
 * cause to end it wins.
 */

import { constants } from 'node:os';
import { asError, settledWithin, sleep } from '@hangar/core';
import type { Clock, Logger, Timer } from '@hangar/core';
import type { Place, ProgramEnd, ProgramOptions, RunningProgram } from './contract.ts';
import { endGroup } from './end-group.ts';
import type { Keeper } from './keeper.ts';
import type { MemoryWatch } from './memory.ts';
import type { Output } from './output.ts';
import { identityOf, killProcess } from '@hangar/programs';
import type { ProgramRecord } from './records.ts';
import { leftMsOf } from './right.ts';
import { stayingAlive } from './staying-alive.ts';
import type { Ticker } from './ticker.ts';

/** A shorter time may expire before the second next tick. */
const shortMs = 2_000;
const soonestMs = 50;
/** Time for a keeper to notice the death of its program or of its guard. */
const keeperWithinMs = 500;
/** Time to wait for output that another process holds open. */
const outputWithinMs = 500;
/** After this time, surviving processes are logged. */
const restWithinMs = 5_000;

export interface RunOptions {
  readonly keeper: Keeper;
  readonly place: Place;
  readonly ownership: ProgramOptions['ownership'];
  readonly memoryLimitBytes: number | undefined;
  readonly record: ProgramRecord;
  readonly output: Output;
  readonly clock: Clock;
  readonly log: Logger;
  /** Every second. */
  readonly ticker: Ticker;
  readonly memory: MemoryWatch;
  /** Records that it has started. */
  readonly keepRecord: (record: ProgramRecord) => void;
  /** Called when no process is left: releases everything else. Never rejects. */
  readonly clear: () => Promise<void>;
}

export class Run implements RunningProgram {
  readonly folder: string;
  readonly port: number;
  readonly startedAt: Date;
  readonly ended: Promise<ProgramEnd>;
  readonly #options: RunOptions;
  readonly #endings: (() => void)[] = [];
  #pid = 0;
  #record: ProgramRecord;
  #cause: ProgramEnd['cause'] | undefined;
  #soon: Timer | undefined;
  #grace: Timer | undefined;
  #graceEndsMs = Infinity;
  #isKilled = false;
  #isOver = false;

  /** Sends the first heartbeat at once. */
  constructor(options: RunOptions) {
    const { keeper, place, ownership, output, clock, ticker } = options;
    this.#options = options;
    this.#record = options.record;
    this.folder = place.folder;
    this.port = place.port;
    this.startedAt = new Date(clock.now());
    output.follow(keeper.stdout);
    output.follow(keeper.stderr);
    const onAbort = (): void => this.#vouch();
    ownership.signal.addEventListener('abort', onAbort);
    this.#endings.push(
      () => ownership.signal.removeEventListener('abort', onAbort),
      ticker.add(() => this.#vouch()),
    );
    this.ended = this.#end();
    void keeper.deaf.then(() => this.#withoutGuard());
    this.#vouch();
  }

  get pid(): number {
    return this.#pid;
  }

  /** Resolves with true when the program has started; false: it never did. */
  async begun(): Promise<boolean> {
    const { keeper, memory, memoryLimitBytes, keepRecord } = this.#options;
    const pid = await keeper.begun;
    if (pid === undefined) return false;
    this.#pid = pid;
    const program = identityOf(pid);
    // It may have exited already.
    if (program && !this.#isOver) {
      this.#record = { ...this.#record, program };
      keepRecord(this.#record);
      if (memoryLimitBytes !== undefined) {
        this.#endings.push(memory.watch(pid, memoryLimitBytes, (usedBytes) => this.#aboveLimit(usedBytes)));
      }
    }
    return true;
  }

  async stop(graceMs: number): Promise<void> {
    const { clock, keeper } = this.#options;
    if (this.#isOver) return void (await this.ended);
    this.#cause ??= 'stopped';
    // Sends SIGTERM only once; of two grace periods the one that ends first applies.
    if (this.#graceEndsMs === Infinity) keeper.signal('SIGTERM');
    const endsMs = clock.monotonicMs() + graceMs;
    if (endsMs < this.#graceEndsMs) {
      this.#graceEndsMs = endsMs;
      this.#grace?.cancel();
      this.#grace = clock.after(graceMs, () => this.kill('stopped'));
    }
    await this.ended;
  }

  /** Kills it at once. */
  kill(cause: ProgramEnd['cause']): void {
    this.#cause ??= cause;
    if (this.#isKilled || this.#isOver) return;
    this.#isKilled = true;
    const { clock, keeper } = this.#options;
    const { program } = this.#record;
    // First only the program: the keeper then ends and reaps the others, which process 1 of a container might not.
    const isTold = program !== undefined && killProcess(program);
    const timer = clock.after(isTold ? keeperWithinMs : 0, () => keeper.signal('SIGKILL'));
    this.#endings.push(() => timer.cancel());
  }

  /** Extends its time, or kills it when the ownership cannot be proven. */
  #vouch(): void {
    const { keeper, ownership, clock, log } = this.#options;
    try {
      const leftMs = leftMsOf(ownership);
      // When little time is left, an extension must not wait for the next tick.
      this.#soon?.cancel();
      if (leftMs < shortMs) this.#soon = clock.after(Math.max(leftMs / 3, soonestMs), () => this.#vouch());
      // After the signal its time is not extended.
      if (!ownership.signal.aborted) keeper.vouch(leftMs);
    } catch (error) {
      if (!this.#isKilled) log.warn('stopped: ownership lost', { why: asError(error).message });
      this.kill('fenced');
    }
  }

  #aboveLimit(usedBytes: number): void {
    const { log, memoryLimitBytes: limitBytes } = this.#options;
    if (!this.#isKilled) log.warn('stopped: memory limit exceeded', { usedBytes, limitBytes });
    this.kill('memory');
  }

  /**
   * Without its guard, the program would survive the death of this process. A guard also exits right before a keeper that exits normally.
   */
  async #withoutGuard(): Promise<void> {
    const { clock, keeper, log } = this.#options;
    if ((await settledWithin(clock, keeperWithinMs, keeper.ended)) || !keeper.isAlive) return;
    log.warn('stopped: its guard process exited');
    this.kill('exited');
  }

  async #end(): Promise<ProgramEnd> {
    const { keeper, output, clock, clear } = this.#options;
    const { status, isFenced } = await keeper.ended;
    // From here on, pids are signalled only if they are proven to be ours.
    this.#isOver = true;
    this.#grace?.cancel();
    this.#soon?.cancel();
    for (const end of this.#endings) end();
    if (status === undefined) await stayingAlive(() => this.#endRest());
    output.drain();
    if (!(await settledWithin(clock, outputWithinMs, output.closed))) output.abandon();
    await clear();
    return {
      cause: this.#cause ?? (isFenced ? 'fenced' : 'exited'),
      ...outcomeOf(status),
      lastError: output.lastError,
    };
  }

  /** The keeper was killed. No program may start in its place before the whole group is gone, however long that takes. */
  async #endRest(): Promise<void> {
    const { clock, log, place } = this.#options;
    for (;;) {
      try {
        if (await endGroup({ record: this.#record, home: place.folder, clock, withinMs: restWithinMs })) return;
        log.error('processes still run after SIGKILL', { group: this.#record.keeper.pid });
      } catch (error) {
        log.error('failed to check whether the processes have exited', { group: this.#record.keeper.pid, error });
      }
      await sleep(clock, restWithinMs);
    }
  }
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** Shells report a signal as 128 plus its number. Without a status, the keeper and its group were killed with SIGKILL. */
function outcomeOf(status: number | undefined): Pick<ProgramEnd, 'code' | 'signal'> {
  if (status === undefined) return { code: undefined, signal: 'SIGKILL' };
  const signal = status > 128 ? signalNames.get(status - 128) : undefined;
  return signal === undefined ? { code: status, signal } : { code: undefined, signal };
}
