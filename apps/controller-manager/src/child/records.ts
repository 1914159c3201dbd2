/**
 * Records the programs of a process, so that the next process finds them if this one dies without ending them. A record is written before
 * its program starts: the keeper waits for it.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '@hangar/programs';

export interface ProgramRecord {
  readonly bootId: string;
  readonly cluster: string;
  readonly service: string;
  /** Leader of the process group of the program. */
  readonly keeper: ProcessIdentity;
  /** Absent until the program has started. */
  readonly program?: ProcessIdentity | undefined;
}

const pathIn = (root: string): string => join(root, 'record.json');

export function writeRecord(root: string, record: ProgramRecord): void {
  // Written atomically: a record is never partial.
  const next = `${pathIn(root)}.next`;
  writeFileSync(next, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(next, pathIn(root));
}

/** Undefined: missing or invalid; then no program was started yet. */
export function readRecord(root: string): ProgramRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(pathIn(root), 'utf8')) as ProgramRecord;
    return isIdentity(record.keeper) && (record.program === undefined || isIdentity(record.program))
      ? record
      : undefined;
  } catch {
    return undefined;
  }
}

/** A pid of 1 or less would address a foreign process, or every process. */
const isIdentity = (value: unknown): value is ProcessIdentity => {
  const { pid, startTime } = (value ?? {}) as Partial<ProcessIdentity>;
  return Number.isSafeInteger(pid) && pid! > 1 && Number.isSafeInteger(startTime);
};
