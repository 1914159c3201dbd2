/**
 * Reports of a process that will be killed: one line each on standard output, written synchronously, so that a written line arrives even if
 * the process is killed a microsecond later.
 */

import { writeSync } from 'node:fs';
import type { KeyRange, Store } from '@hangar/store';
import { StoreError } from '../../packages/store/src/errors.ts';
import type { Ledger, StoredEntry, StoredState } from './ledger.ts';
import { fingerprint, writesOf } from './plan.ts';
import type { Plan } from './plan.ts';

export type Told =
  | ['intend', Plan]
  | ['acknowledged', id: string, revision: number, deleted: number]
  | ['refused', id: string, code: string]
  | ['unknown', id: string, code: string]
  | ['state', revision: number, entries: [key: string, entry: StoredEntry][]]
  /** Any other message for the reader; an error that is not one of the store's fails the test. */
  | ['note', text: string]
  | ['failed', text: string];

export function tell(told: Told): void {
  const line = Buffer.from(`${JSON.stringify(told)}\n`);
  for (let at = 0; at < line.length;) at += writeSome(line, at);
}

/** The pipe is full and does not block: the reader is busy, and the intention must be reported first. */
function writeSome(line: Buffer, at: number): number {
  try {
    return writeSync(1, line, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    return 0;
  }
}

/** Codes that leave open whether the commit happened; every other rejection promises that it did not. */
export const openCodes = ['StorageFailed', 'Unavailable'];

/** Commits, and reports before and after. Returns the revision, or undefined when it was not acknowledged. */
export async function commitAndTell(
  store: Store,
  plan: Plan,
): Promise<{ revision: number } | { code: string; mayHaveHappened: boolean }> {
  tell(['intend', plan]);
  try {
    const result = await store.commit(writesOf(plan));
    if (result.committed) {
      tell(['acknowledged', plan.id, result.revision, result.deleted]);
      return { revision: result.revision };
    }
    tell(['refused', plan.id, 'conflict']);
    return { code: 'conflict', mayHaveHappened: false };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const mayHaveHappened = openCodes.includes(error.code);
    tell([mayHaveHappened ? 'unknown' : 'refused', plan.id, error.code]);
    return { code: error.code, mayHaveHappened };
  }
}

export async function stateOf(store: Store, range: KeyRange): Promise<StoredState> {
  const { revision, entries } = await store.range(range);
  return {
    revision,
    entries: new Map(
      entries.map(({ key, createRevision, modRevision, version, value }) => [
        key,
        { created: createRevision, modified: modRevision, version, value: fingerprint(value) },
      ]),
    ),
  };
}

/** Enters a report into a ledger; returns reports that are not for it. */
export function enter(ledger: Ledger, told: Told): Exclude<Told, ['intend', Plan]> | undefined {
  switch (told[0]) {
    case 'intend':
      ledger.intend(told[1]);
      return undefined;
    case 'acknowledged':
      ledger.acknowledge(told[1], told[2], told[3]);
      return told;
    case 'refused':
      ledger.refuse(told[1]);
      return told;
    case 'unknown':
      ledger.leaveOpen(told[1]);
      return told;
    default:
      return told;
  }
}
