/** The record of a started program in its folder. The next supervisor reads it to adopt or to kill the program. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '@hangar/programs';

export interface ProcessRecord {
  readonly bootId: string;
  /** The keeper, leader of the process group. */
  readonly keeper: ProcessIdentity;
  readonly startedAt: string;
}

const pathIn = (folder: string): string => join(folder, 'process.json');

export function writeProcessRecord(folder: string, record: ProcessRecord): void {
  const next = `${pathIn(folder)}.next`;
  writeFileSync(next, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(next, pathIn(folder));
}

export function readProcessRecord(folder: string): ProcessRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(pathIn(folder), 'utf8')) as ProcessRecord;
    const { pid, startTime } = record.keeper;
    // A pid of 1 or less addresses a foreign process, or every process.
    return Number.isSafeInteger(pid) && pid > 1 && Number.isSafeInteger(startTime) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The report of a keeper. */
export interface Report {
  readonly pid: number | undefined;
  readonly status: number | undefined;
  readonly isFenced: boolean;
}

export function readReport(folder: string): Report {
  let text = '';
  try {
    text = readFileSync(join(folder, 'report'), 'latin1');
  } catch {
    // No keeper has started yet.
  }
  const word = (name: string): number | undefined => {
    const found = new RegExp(`^${name} (\\d+)\n`, 'm').exec(text)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  return { pid: word('pid'), status: word('status'), isFenced: /^fenced$/m.test(text) };
}
