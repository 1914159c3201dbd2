/**
 * Runs external programs, one per cluster and service. Each gets its own folder and port, and its end is reported. A keeper beside each
 * program ends it when this process exits, or when the ownership can no longer be proven.
 */

import type { Ownership } from '@hangar/runtime/clusters';
import type { Service } from '../contract.ts';

/** Resources that a program has exclusively. */
export interface Place {
  /** Absolute; accessible to this user only. Removed with the program. */
  readonly folder: string;
  /** Was free on the loopback interface when it was chosen. */
  readonly port: number;
}

export interface ProgramOptions {
  readonly cluster: string;
  readonly service: Service;
  /** Absolute. */
  readonly executable: string;
  /** The program's name for itself: the first word of its user agent, so that audit logs show which replica acted. */
  readonly argv0: string;
  readonly arguments: (place: Place) => readonly string[];
  /** File contents by name, written into the folder before the start. May be secret. */
  readonly files: Readonly<Record<string, string>>;
  /** The program is killed above it. Undefined: no limit. */
  readonly memoryLimitBytes: number | undefined;
  /** The program does not outlive the ownership, even if this process hangs. */
  readonly ownership: Pick<Ownership, 'check' | 'remainingMs' | 'signal'>;
}

export interface ProgramEnd {
  /**
   *   exited   by itself          stopped   as requested         memory    above its limit
   *   fenced   ownership could no longer be proven
   */
  readonly cause: 'exited' | 'stopped' | 'memory' | 'fenced';
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** The last output line that looks like an error. */
  readonly lastError: string | undefined;
}

export interface RunningProgram extends Place {
  /** Pid of the program, not of the keeper. */
  readonly pid: number;
  readonly startedAt: Date;
  /** Resolves when the program, its keeper and its folder are gone. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Terminates the program, and kills it after the grace period. Resolves as `ended` does. Idempotent. */
  stop(graceMs: number): Promise<void>;
}

export interface Programs {
  /**
   * Ends programs that an earlier run of this process left behind, and removes their folders. Called before the first start. Resolves with
   * their number.
   */
  cleanUp(): Promise<number>;
  /** Rejects when it cannot be started: no such file, no free port, a full disk. Runs at most one per cluster and service. */
  start(options: ProgramOptions): Promise<RunningProgram>;
}
