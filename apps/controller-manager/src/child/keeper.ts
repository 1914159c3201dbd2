/** Node side of `keeper.sh`: starts it, extends the time that its program may run, and reports its end. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex, Readable } from 'node:stream';
import { asError, settledWithin } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ProgramError } from './errors.ts';
import { identityOf, keeperScript, signalGroup } from '@hangar/programs';
import type { ProcessIdentity } from '@hangar/programs';

export interface KeeperOptions {
  readonly bash: string;
  readonly executable: string;
  readonly argv0: string;
  readonly arguments: readonly string[];
  readonly folder: string;
  /** The complete environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** Output written right before the end arrives within this time. */
const reportWithinMs = 500;

export interface KeeperEnd {
  /** Exit status of the program, as shells report it. Undefined: the keeper was killed, and the program may still run. */
  readonly status: number | undefined;
  /** The program was killed because its time was not extended. */
  readonly isFenced: boolean;
}

export class Keeper {
  /** Leader of the process group of the program. */
  readonly identity: ProcessIdentity;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The program's pid; undefined when the keeper ended without starting it. */
  readonly begun: Promise<number | undefined>;
  readonly ended: Promise<KeeperEnd>;
  /** Resolves when no process reads the heartbeat any longer. */
  readonly deaf: Promise<void>;
  readonly #child: ChildProcess;
  readonly #voucher: Duplex;
  #said = '';

  /** The program does not start before the first `vouch`. Rejects with `StartFailed`. */
  static async start(options: KeeperOptions): Promise<Keeper> {
    const child = await spawned(options);
    const identity = identityOf(child.pid!);
    if (identity) return new Keeper(child, identity, options.clock);
    throw new ProgramError('StartFailed', `${options.executable} was killed before it started`);
  }

  private constructor(child: ChildProcess, identity: ProcessIdentity, clock: Clock) {
    this.#child = child;
    this.identity = identity;
    this.stdout = child.stdout!;
    this.stderr = child.stderr!;
    this.#voucher = child.stdio[3] as Duplex;
    // A dead keeper does not read; its exit is reported separately.
    this.#voucher.on('error', () => {}).resume();
    this.deaf = closed(this.#voucher);
    const report = child.stdio[4] as Duplex;
    const reported = closed(report);
    const begun = Promise.withResolvers<number | undefined>();
    this.begun = begun.promise;
    report.setEncoding('latin1').on('error', () => {});
    report.on('data', (text: string) => {
      this.#said += text;
      const pid = this.#word('pid');
      if (pid !== undefined && /^guarded$/m.test(this.#said)) begun.resolve(pid);
    });
    this.ended = new Promise((resolve) => child.once('exit', resolve)).then(async () => {
      // If the keeper was killed, its guard is still there, and kills the group when its input closes.
      this.#voucher.destroy();
      await settledWithin(clock, reportWithinMs, reported);
      report.destroy();
      begun.resolve(this.#word('pid'));
      return { status: this.#word('status'), isFenced: /^fenced$/m.test(this.#said) };
    });
  }

  /** Allows the program to run for this long without another call. */
  vouch(forMs: number): void {
    if (!this.#voucher.writable || this.#voucher.writableNeedDrain) return;
    this.#voucher.write(`${(forMs / 1000).toFixed(3)}\n`);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Signals the whole process group. Does nothing once the keeper has exited: its pid may be reused. */
  signal(signal: NodeJS.Signals): void {
    if (this.isAlive) signalGroup(this.identity.pid, signal);
  }

  #word(name: string): number | undefined {
    const found = new RegExp(`^${name} (\\d+)\n`, 'm').exec(this.#said)?.[1];
    return found === undefined ? undefined : Number(found);
  }
}

async function spawned({
  bash,
  executable,
  argv0,
  arguments: args,
  folder,
  env,
}: KeeperOptions): Promise<ChildProcess> {
  try {
    const child = spawn(bash, ['--noprofile', '--norc', keeperScript, argv0, executable, ...args], {
      cwd: folder,
      env,
      // A separate session and group: signals of the terminal do not reach it, and the group can be killed as a whole.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    if (child.pid === undefined) await once(child, 'spawn');
    child.on('error', () => {});
    return child;
  } catch (cause) {
    throw new ProgramError('StartFailed', `failed to start ${executable}: ${asError(cause).message}`, { cause });
  }
}

const closed = (stream: Duplex): Promise<void> => new Promise((resolve) => stream.once('close', () => resolve()));
