/**
 * One program, from its start to the moment when nothing of it is left. Every second it is vouched for, as long as the right to run it can
 * be proven; why it is ended is decided once, by whoever is first.
 */

import { constants } from 'node:os';
import { asError, settledWithin, sleep } from '@hangar/core';
import type { Clock, Logger, Timer } from '@hangar/core';
import type { Place, ProgramEnd, ProgramOptions, RunningProgram } from './contract.ts';
import { endGroup } from './end-group.ts';
import type { Keeper } from './keeper.ts';
import type { MemoryWatch } from './memory.ts';
import type { Output } from './output.ts';
import { identityOf, killProcess } from './processes.ts';
import type { ProgramRecord } from './records.ts';
import { leftMsOf } from './right.ts';
import { stayingAlive } from './staying-alive.ts';
import type { Ticker } from './ticker.ts';

/** Less than this may be over before the next tick but one. */
const shortMs = 2_000;
const soonestMs = 50;
/** A keeper that has not noticed a death or a deaf guard by then is not waited for. */
const keeperWithinMs = 500;
/** Output that others hold open is not waited for. */
const outputWithinMs = 500;
/** It is said of what is still alive after so long. */
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
  /** Writes down that it has begun. */
  readonly keepRecord: (record: ProgramRecord) => void;
  /** Nothing runs any more: takes everything else away. Never rejects. */
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

  /** Vouches for it at once. */
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

  /** Resolves when the program is there; false: it never was. */
  async begun(): Promise<boolean> {
    const { keeper, memory, memoryLimitBytes, keepRecord } = this.#options;
    const pid = await keeper.begun;
    if (pid === undefined) return false;
    this.#pid = pid;
    const program = identityOf(pid);
    // It may have ended already.
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
    // Asked again it is not told again; but of two graces the one that ends first counts.
    if (this.#graceEndsMs === Infinity) keeper.signal('SIGTERM');
    const endsMs = clock.monotonicMs() + graceMs;
    if (endsMs < this.#graceEndsMs) {
      this.#graceEndsMs = endsMs;
      this.#grace?.cancel();
      this.#grace = clock.after(graceMs, () => this.kill('stopped'));
    }
    await this.ended;
  }

  /** Ends it at once. */
  kill(cause: ProgramEnd['cause']): void {
    this.#cause ??= cause;
    if (this.#isKilled || this.#isOver) return;
    this.#isKilled = true;
    const { clock, keeper } = this.#options;
    const { program } = this.#record;
    // The program alone, at first: the keeper then ends and reaps all others, which process 1 of a container might not.
    const isTold = program !== undefined && killProcess(program);
    const timer = clock.after(isTold ? keeperWithinMs : 0, () => keeper.signal('SIGKILL'));
    this.#endings.push(() => timer.cancel());
  }

  /** Or ends it, when there is nothing to prove the right with. */
  #vouch(): void {
    const { keeper, ownership, clock, log } = this.#options;
    try {
      const leftMs = leftMsOf(ownership);
      // When time is short, news of more of it must not wait for the next tick.
      this.#soon?.cancel();
      if (leftMs < shortMs) this.#soon = clock.after(Math.max(leftMs / 3, soonestMs), () => this.#vouch());
      // After the signal it has the time that it was given before, and no more.
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

  /** Nobody would end it if this process died now. The guard also goes right before a keeper that comes to its end. */
  async #withoutGuard(): Promise<void> {
    const { clock, keeper, log } = this.#options;
    if ((await settledWithin(clock, keeperWithinMs, keeper.ended)) || !keeper.isAlive) return;
    log.warn('stopped: its guard process exited');
    this.kill('exited');
  }

  async #end(): Promise<ProgramEnd> {
    const { keeper, output, clock, clear } = this.#options;
    const { status, isFenced } = await keeper.ended;
    // From here on nothing of it is signalled by number unless it is proven to be ours.
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

  /** The keeper was killed. Nothing may be started in its place before all of it is gone, however long that takes. */
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

/** Shells count a signal as 128 and its number. Without a status it was SIGKILL, of the keeper and of all. */
function outcomeOf(status: number | undefined): Pick<ProgramEnd, 'code' | 'signal'> {
  if (status === undefined) return { code: undefined, signal: 'SIGKILL' };
  const signal = status > 128 ? signalNames.get(status - 128) : undefined;
  return signal === undefined ? { code: status, signal } : { code: undefined, signal };
}
