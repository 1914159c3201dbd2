/**
 * Programs of others, run for one cluster each. Whoever starts one gets it in a folder and on a port of its own, and is told of its
 * end; a keeper beside each ends it when this process does, or when the right to run it can no longer be proven.
 */

import type { Ownership } from '@hangar/runtime/clusters';
import type { Service } from '../contract.ts';

/** What a program is given that it has alone. */
export interface Place {
  /** Absolute; only this user's. Gone when the program is. */
  readonly folder: string;
  /** Free on the loopback interface a moment ago. */
  readonly port: number;
}

export interface ProgramOptions {
  readonly cluster: string;
  readonly service: Service;
  /** Absolute. */
  readonly executable: string;
  /** What the program takes for its own name: the first word of its user agent, so that audit logs say which replica acted. */
  readonly argv0: string;
  readonly arguments: (place: Place) => readonly string[];
  /** By their names, written into the folder before it starts. May be secret. */
  readonly files: Readonly<Record<string, string>>;
  /** Above it the program is ended. Undefined: no limit. */
  readonly memoryLimitBytes: number | undefined;
  /** It does not outlive this, even if this process stands still. */
  readonly ownership: Pick<Ownership, 'check' | 'remainingMs' | 'signal'>;
}

export interface ProgramEnd {
  /**
   *   exited   by itself          stopped   as it was told       memory    above its limit
   *   fenced   the right to run it could not be proven any more
   */
  readonly cause: 'exited' | 'stopped' | 'memory' | 'fenced';
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** What it said last, that looks like an error; one line. */
  readonly lastError: string | undefined;
}

export interface RunningProgram extends Place {
  /** The program's own, not the keeper's. */
  readonly pid: number;
  readonly startedAt: Date;
  /** Resolves when neither it nor its keeper nor its folder is left. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Asks it to end, and ends it after the grace. Resolves as `ended` does. Idempotent. */
  stop(graceMs: number): Promise<void>;
}

export interface Programs {
  /** Ends what a former life of this process left behind, and removes its folders. Before anything is started. Says how many there were. */
  cleanUp(): Promise<number>;
  /** Rejects when it cannot be started at all: no such file, no free port, a full disk. Never two of one cluster and service at a time. */
  start(options: ProgramOptions): Promise<RunningProgram>;
}
