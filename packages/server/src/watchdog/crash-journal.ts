/**
 * The file that names the activity during which the process might end. It is written while an activity runs long, by a thread
 * that goes on when the watched thread cannot, and removed when the activity is over: if the next start finds it, the process
 * ended during the activity. Not synced: it survives the end of the process, not a power cut, which no tenant causes.
 */

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CrashRecord } from './contract.ts';

export class CrashJournal {
  readonly #file: string;
  #isWritten = false;

  constructor(file: string) {
    this.#file = file;
  }

  write(record: CrashRecord): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    // A process that ends between both leaves the record before this one.
    writeFileSync(`${this.#file}.new`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
    this.#isWritten = true;
  }

  /** Removes what was written here; nothing otherwise. */
  clear(): void {
    if (this.#isWritten) this.remove();
  }

  remove(): void {
    rmSync(this.#file, { force: true });
    this.#isWritten = false;
  }

  /** Undefined: there is none, or it cannot be read. */
  read(): CrashRecord | undefined {
    try {
      const record = JSON.parse(readFileSync(this.#file, 'utf8')) as Partial<CrashRecord>;
      return typeof record.activity?.tenant === 'string' ? (record as CrashRecord) : undefined;
    } catch {
      return undefined;
    }
  }
}
