/**
 * The file that names the activity during which the process may crash. It is written while an activity runs long, by a thread that keeps
 * running when the watched thread cannot, and removed when the activity is over: if the next start finds it, the process exited during the
 * activity. Not synced: it survives the exit of the process, not a power failure, which no tenant causes.
 *
 * Methods do not throw. A full disk must not stop the process: without a journal, the next start counts no crash.
 */

import { readFileSync, renameSync, rmSync } from 'node:fs';
import type { CrashRecord } from './contract.ts';
import { replaceFile } from './replace-file.ts';

export class CrashJournal {
  readonly #file: string;
  readonly #onError: ((error: Error) => void) | undefined;
  #isWritten = false;
  #hasFailed = false;

  /** `onError` receives the first failure only. */
  constructor(file: string, onError?: (error: Error) => void) {
    this.#file = file;
    this.#onError = onError;
  }

  write(record: CrashRecord): void {
    this.#attempt(() => {
      replaceFile(this.#file, JSON.stringify(record));
      this.#isWritten = true;
    });
  }

  /** Removes the record if it was written here. */
  clear(): void {
    if (this.#isWritten) this.remove();
  }

  remove(): void {
    this.#attempt(() => {
      rmSync(this.#file, { force: true });
      this.#isWritten = false;
    });
  }

  /** Moves the record, if there is a valid one, to another file. Otherwise an earlier record there is kept. */
  moveTo(file: string): void {
    if (this.read()) this.#attempt(() => renameSync(this.#file, file));
    else this.remove();
  }

  /** Reports a failure, here or in the thread that writes to the same file, unless an earlier one was reported. */
  failed(error: Error): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#onError?.(error);
  }

  #attempt(change: () => void): void {
    try {
      change();
    } catch (error) {
      this.failed(error as Error);
    }
  }

  /** Returns undefined if there is none, or if it cannot be read. */
  read(): CrashRecord | undefined {
    try {
      const record: unknown = JSON.parse(readFileSync(this.#file, 'utf8'));
      return isCrashRecord(record) ? record : undefined;
    } catch {
      return undefined;
    }
  }
}

function isCrashRecord(read: unknown): read is CrashRecord {
  const { activity, at, isCertain, reason } = read as Partial<CrashRecord>;
  if (!activity || !Number.isFinite(at) || typeof isCertain !== 'boolean') return false;
  const { tenant, user, verb, resource, isAccountable } = activity;
  return (
    typeof isAccountable === 'boolean' &&
    [reason, tenant, user, verb, resource].every((text) => typeof text === 'string')
  );
}
