/**
 * Writes events as lines of a file. Events of two milliseconds are written with one call: one call each would cost more than the rest of a
 * small request, and a power failure loses seconds of any unsynced file anyway. Large files are rotated; backups are limited by number and
 * age.
 */

import { closeSync, openSync, readdirSync, renameSync, rmSync, writeSync, fstatSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Clock } from '@hangar/core';
import type { AuditSink } from './sink.ts';

export interface LogFileOptions {
  /** `-`: standard output. */
  readonly path: string;
  /** A file that would exceed it is rotated; 0: never. */
  readonly bytesMax: number;
  /** Limits of backups; 0: no limit of number or age. */
  readonly backupsMax: number;
  readonly ageMaxMs: number;
  readonly clock: Clock;
  /** Called when a write fails: events are lost, requests are served. */
  readonly onError: (error: Error) => void;
}

const flushMs = 2;
const pipeAttemptsMax = 200;
const pipePauseMs = 5;
const pause = new Int32Array(new SharedArrayBuffer(4));

export class LogFile implements AuditSink {
  readonly #options: LogFileOptions;
  #file: number;
  #bytes: number;
  #waiting: string[] = [];
  #isClosed = false;

  /** Throws if the file cannot be opened. */
  constructor(options: LogFileOptions) {
    this.#options = options;
    this.#file = options.path === '-' ? 1 : openSync(options.path, 'a', 0o600);
    this.#bytes = options.path === '-' ? 0 : fstatSync(this.#file).size;
  }

  write(event: string): void {
    if (this.#isClosed) return;
    if (this.#waiting.push(event) === 1) this.#options.clock.after(flushMs, () => this.#flush());
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    if (this.#options.path !== '-') closeSync(this.#file);
  }

  #flush(): void {
    if (this.#waiting.length === 0 || this.#isClosed) return;
    const bytes = Buffer.from(`${this.#waiting.join('\n')}\n`);
    this.#waiting = [];
    try {
      this.#rotateFor(bytes.length);
      // Write until complete: after a partial write, as on a full disk, the next event would continue the same line.
      for (let at = 0; at < bytes.length;) at += this.#writeSome(bytes, at);
      this.#bytes += bytes.length;
    } catch (error) {
      this.#options.onError(error as Error);
    }
  }

  /** A full pipe with a slow reader is retried for a short time. */
  #writeSome(bytes: Buffer, at: number): number {
    for (let attempt = 0; ; attempt++) {
      try {
        return writeSync(this.#file, bytes, at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || attempt === pipeAttemptsMax) throw error;
        Atomics.wait(pause, 0, 0, pipePauseMs);
      }
    }
  }

  #rotateFor(bytes: number): void {
    const { path, bytesMax, clock } = this.#options;
    if (path === '-' || bytesMax === 0 || this.#bytes === 0 || this.#bytes + bytes <= bytesMax) return;
    const { stem, extension } = partsOf(path);
    const time = new Date(clock.now()).toISOString().replaceAll(':', '-').replace('Z', '');
    const aside = join(dirname(path), `${stem}-${time}${extension}`);
    try {
      renameSync(path, aside);
    } catch (error) {
      // The file cannot be renamed, as with a bind mount: keep writing to the large file.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return this.#options.onError(error as Error);
    }
    try {
      const next = openSync(path, 'a', 0o600);
      closeSync(this.#file);
      this.#file = next;
      this.#bytes = 0;
    } catch (error) {
      // The open file is kept under its new name until a new file can be opened.
      return this.#options.onError(error as Error);
    }
    this.#removeOld();
  }

  #removeOld(): void {
    const { path, backupsMax, ageMaxMs, clock } = this.#options;
    const { stem, extension } = partsOf(path);
    const folder = dirname(path);
    const backups = readdirSync(folder)
      .flatMap((name) => {
        const time = timeIn(name, stem, extension);
        return time === undefined ? [] : [{ name, time }];
      })
      .sort((a, b) => b.time - a.time);
    backups.forEach(({ name, time }, place) => {
      const isTooMany = backupsMax > 0 && place >= backupsMax;
      const isTooOld = ageMaxMs > 0 && time < clock.now() - ageMaxMs;
      if (isTooMany || isTooOld) rmSync(join(folder, name), { force: true });
    });
  }
}

function partsOf(path: string): { stem: string; extension: string } {
  const extension = extname(path);
  return { stem: basename(path, extension), extension };
}

/** Returns the time of the rotation; undefined for other files. */
function timeIn(name: string, stem: string, extension: string): number | undefined {
  if (!name.startsWith(`${stem}-`) || !name.endsWith(extension)) return undefined;
  const text = name.slice(stem.length + 1, name.length - extension.length);
  const match = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(text);
  return match ? Date.parse(`${match[1]}:${match[2]}:${match[3]}Z`) : undefined;
}
