/** The processes of containers. Tests replace `ContainerProcesses` by processes in memory. */

import type { LogSink } from '../logs/log-file.ts';

/** A program to start. */
export interface ProcessSpec {
  /** Folder of this run of the container: pipes, report and record. Created by `start`. */
  readonly folder: string;
  /** Absolute. */
  readonly executable: string;
  readonly argv0: string;
  readonly arguments: readonly string[];
  /** Complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Root folder that the program changes to. `start` waits for it, so that commands do not run in another root. */
  readonly root?: string | undefined;
  /** Receives the output. */
  readonly log: LogSink;
}

export interface ProcessEnd {
  /** As shells report it: 128 and the number of the signal for a killed program. Undefined: the status is lost. */
  readonly exitCode: number | undefined;
  /** The keeper killed the program, because the supervisor did not renew its time. */
  readonly isFenced: boolean;
}

export interface ContainerProcess {
  /** Pid of the program. */
  readonly pid: number;
  readonly startedAt: Date;
  /** Resolves after the program and its process group are gone and the output is written. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** Signals the process group. Does nothing once the program has ended. */
  signal(signal: NodeJS.Signals): void;
}

export interface ContainerProcesses {
  /** Rejects with `RunContainerError`. */
  start(spec: ProcessSpec): Promise<ContainerProcess>;
  /**
   * Takes over the program that an earlier supervisor started in this folder. `ended` resolves at once if the program ended since.
   * Undefined: the folder has no started program.
   */
  adopt(folder: string, log: LogSink): Promise<ContainerProcess | undefined>;
  /** Stops renewing the time of all programs and closes their logs. Programs that are not adopted in time are killed by their keepers. */
  release(): Promise<void>;
}
