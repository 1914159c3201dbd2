/** Starts programs, each in its folder, under its keeper. One per cluster and service; one process per work directory. */

import { writeSync } from 'node:fs';
import type { Clock, Logger } from '@hangar/core';
import { abortError, asError, hasCode, settledWithin } from '@hangar/core';
import { bootId, findExecutable, isExecutable, statOf } from '@hangar/programs';
import type { Place, ProgramOptions, Programs, RunningProgram } from './contract.ts';
import { ProgramError } from './errors.ts';
import { Keeper } from './keeper.ts';
import { endLeftovers } from './leftovers.ts';
import { MemoryWatch } from './memory.ts';
import { Output } from './output.ts';
import { OutputBudget } from './output-budget.ts';
import { foldersOf, keyOf, makeFolders, removeFolders } from './place.ts';
import type { Folders } from './place.ts';
import { Ports } from './ports.ts';
import type { PortRange } from './ports.ts';
import { writeRecord } from './records.ts';
import { leftMsOf } from './right.ts';
import { Run } from './running-program.ts';
import { stayingAlive } from './staying-alive.ts';
import { Ticker } from './ticker.ts';
import { openWorkDir } from './work-dir.ts';
import type { WorkDir } from './work-dir.ts';

export interface ProgramsOptions {
  /** Created if missing. Locked by this process until it exits. */
  readonly workDir: string;
  readonly ports: PortRange;
  readonly clock: Clock;
  readonly log: Logger;
  /** Receives the output of programs: whole lines with their prefixes and newlines. Absent: standard error. */
  readonly writeLines?: (text: string) => void;
  /** Source of PATH and GOMAXPROCS, the only variables that programs get. Absent: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const vouchEveryMs = 1_000;
/** Bash retries a failed fork for 15 s. */
const beginWithinMs = 20_000;
/** Go's garbage collector works harder above this share; above the limit itself the program is killed. */
const softLimitRatio = 0.9;

export const newPrograms = (options: ProgramsOptions): Programs => new LocalPrograms(options);

class LocalPrograms implements Programs {
  readonly #options: ProgramsOptions;
  readonly #ports: Ports;
  readonly #ticker: Ticker;
  readonly #memory: MemoryWatch;
  readonly #outputBudget: OutputBudget;
  readonly #keys = new Set<string>();
  #workDir: WorkDir | undefined;
  #cleaning: Promise<number> | undefined;

  constructor(options: ProgramsOptions) {
    this.#options = options;
    this.#ports = new Ports(options.ports);
    this.#ticker = new Ticker(options.clock, vouchEveryMs);
    this.#memory = new MemoryWatch(options.clock);
    this.#outputBudget = new OutputBudget(options.clock);
  }

  cleanUp(): Promise<number> {
    this.#cleaning ??= this.#cleanUp().catch((error: unknown) => {
      this.#cleaning = undefined; // Allows a retry.
      throw error;
    });
    return this.#cleaning;
  }

  async start(options: ProgramOptions): Promise<RunningProgram> {
    const { cluster, service } = options;
    const key = keyOf(cluster, service);
    if (this.#keys.has(key)) {
      throw new ProgramError('AlreadyRunning', `a child process for ${cluster}/${service} already runs`);
    }
    this.#keys.add(key);
    let port: number | undefined;
    let folders: Folders | undefined;
    /** Releases everything, the reservation of the cluster and service last. */
    const clear = async (): Promise<void> => {
      if (folders) await this.#remove(folders);
      if (port !== undefined) this.#ports.release(port);
      this.#keys.delete(key);
    };
    let run: Run | undefined;
    try {
      await this.cleanUp();
      port = await this.#ports.take();
      folders = foldersOf(this.#workDir!.children, key);
      await makeFolders(folders, options.files);
      run = await this.#launch(options, { folders, port, clear });
      const begun = run.begun();
      if ((await settledWithin(this.#options.clock, beginWithinMs, begun)) && (await begun)) return run;
      throw new ProgramError(
        'StartFailed',
        `failed to start ${options.executable}: it may have reached the limit of processes`,
      );
    } catch (error) {
      run?.kill('exited');
      await (run?.ended ?? clear());
      throw startError(error);
    }
  }

  async #cleanUp(): Promise<number> {
    const { clock, log, workDir } = this.#options;
    if (!statOf(process.pid))
      throw new ProgramError('NotSupported', 'child processes require Linux: /proc does not exist');
    this.#bash();
    this.#workDir ??= openWorkDir(workDir);
    const { children } = this.#workDir;
    return stayingAlive(() => endLeftovers({ children, clock, log }));
  }

  async #launch(
    options: ProgramOptions,
    { folders, port, clear }: { folders: Folders; port: number; clear: () => Promise<void> },
  ): Promise<Run> {
    const { clock, writeLines = writeToStandardError } = this.#options;
    const { cluster, service, executable, argv0, ownership, memoryLimitBytes } = options;
    const place: Place = { folder: folders.home, port };
    if (!isExecutable(executable))
      throw new ProgramError('ExecutableMissing', `${executable} is not an executable file`);
    const args = options.arguments(place);
    // No program starts after the signal, even if running ones may continue.
    if (ownership.signal.aborted) throw abortError(ownership.signal);
    leftMsOf(ownership);
    const env = this.#envOf(place, memoryLimitBytes);
    const keeper = await Keeper.start({
      bash: this.#bash(),
      executable,
      argv0,
      arguments: args,
      folder: place.folder,
      env,
      clock,
    });
    const record = { bootId: bootId(), cluster, service, keeper: keeper.identity };
    try {
      writeRecord(folders.root, record);
    } catch (error) {
      keeper.signal('SIGKILL');
      await keeper.ended;
      throw error;
    }
    return new Run({
      keeper,
      place,
      ownership,
      memoryLimitBytes,
      record,
      output: new Output({ cluster, service, budget: this.#outputBudget, writeLines }),
      clock,
      log: this.#options.log.child({ cluster, service }),
      ticker: this.#ticker,
      memory: this.#memory,
      keepRecord: (next) => writeRecord(folders.root, next),
      clear,
    });
  }

  #envOf({ folder }: Place, memoryLimitBytes: number | undefined): Record<string, string> {
    const { PATH, GOMAXPROCS } = this.#options.env ?? process.env;
    return {
      HOME: folder,
      TMPDIR: folder,
      ...(PATH === undefined ? {} : { PATH }),
      ...(GOMAXPROCS === undefined ? {} : { GOMAXPROCS }),
      ...(memoryLimitBytes === undefined ? {} : { GOMEMLIMIT: String(Math.floor(memoryLimitBytes * softLimitRatio)) }),
    };
  }

  /** A folder that cannot be removed fails the next start, which reports it. */
  async #remove({ root }: Folders): Promise<void> {
    try {
      await removeFolders(root);
    } catch (error) {
      this.#options.log.error('failed to remove the directory of a child process', { root, error });
    }
  }

  #bash(): string {
    const bash = findExecutable('bash', { path: (this.#options.env ?? process.env)['PATH'] });
    if (bash !== undefined) return bash;
    throw new ProgramError('NotSupported', 'bash was not found in PATH; child processes require it');
  }
}

/** Errors of the ownership are passed through. */
const startError = (error: unknown): Error =>
  error instanceof ProgramError || hasCode(error, 'Fenced') || hasCode(error, 'Aborted')
    ? error
    : new ProgramError('StartFailed', asError(error).message, { cause: error });

/** Writes as much as standard error accepts: a missing or slow reader must not end anything. */
function writeToStandardError(lines: string): void {
  const bytes = Buffer.from(lines);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(2, bytes, at);
  } catch {
    // The rest is lost.
  }
}
