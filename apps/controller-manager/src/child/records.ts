/**
 * What a process writes down of its programs, for the next one to find if it dies without ending them. A record is there before its
 * program is: the keeper waits for a word.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from './processes.ts';

export interface ProgramRecord {
  readonly bootId: string;
  readonly cluster: string;
  readonly service: string;
  /** Leads the group that everything of the program is in. */
  readonly keeper: ProcessIdentity;
  /** Absent for the moment before it has started. */
  readonly program?: ProcessIdentity | undefined;
}

const pathIn = (root: string): string => join(root, 'record.json');

export function writeRecord(root: string, record: ProgramRecord): void {
  // Never half a record, whenever the process dies.
  const next = `${pathIn(root)}.next`;
  writeFileSync(next, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(next, pathIn(root));
}

/** Undefined: there is none, or it makes no sense; then nothing was started yet. */
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

/** A pid of 1 or less would mean a process that was never ours, or every process there is. */
const isIdentity = (value: unknown): value is ProcessIdentity => {
  const { pid, startTime } = (value ?? {}) as Partial<ProcessIdentity>;
  return Number.isSafeInteger(pid) && pid! > 1 && Number.isSafeInteger(startTime);
};
