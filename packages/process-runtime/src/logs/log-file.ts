/**
 * Writes the output of a container in the format of the kubelet's log files, one line each, and rotates the files:
 *
 *     2026-01-02T03:04:05.678000000Z stdout F a complete line
 *     2026-01-02T03:04:05.679000000Z stderr P the first part of a long line
 */

import { appendFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Clock, Logger } from '@hangar/core';
import { asError } from '@hangar/core';

export type OutputStream = 'stdout' | 'stderr';

/** Receives the output of a program. */
export interface LogSink {
  follow(name: OutputStream, stream: Readable): void;
  /** Resolves when everything that was read is written. */
  flush(): Promise<void>;
}

export interface LogFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** A file is rotated above this size. Absent: 10 MiB, as in the kubelet. */
  readonly bytesMax?: number | undefined;
  /** Files per run of a container, including the current one. Absent: 5, as in the kubelet. */
  readonly filesMax?: number | undefined;
}

/** Bytes of a line; longer lines are written in parts, as containerd does. */
const lineBytesMax = 16 * 1024;
const newline = 10;

export class LogFile implements LogSink {
  readonly #options: LogFileOptions;
  readonly #bytesMax: number;
  readonly #filesMax: number;
  #writing: Promise<void> = Promise.resolve();
  #size: number | undefined;
  #rotations = 0;
  /** Bytes lost since writing fails. */
  #lostBytes = 0;

  constructor(options: LogFileOptions) {
    this.#options = options;
    this.#bytesMax = options.bytesMax ?? 10 * 1024 * 1024;
    this.#filesMax = options.filesMax ?? 5;
  }

  follow(name: OutputStream, stream: Readable): void {
    let rest: Buffer = Buffer.alloc(0);
    const pass = (lines: Buffer[]): void => {
      if (lines.length === 0) return;
      stream.pause();
      void this.#append(Buffer.concat(lines)).then(() => stream.destroyed || stream.resume());
    };
    stream.on('error', () => {}); // It is closed then.
    stream.on('data', (chunk: Buffer) => {
      const lines: Buffer[] = [];
      rest = this.#split(name, Buffer.concat([rest, chunk]), lines);
      pass(lines);
    });
    stream.once('close', () => {
      // The last line of a program need not end with a newline.
      if (rest.length > 0) void this.#append(this.#line(name, rest, 'F'));
    });
  }

  flush(): Promise<void> {
    return this.#writing;
  }

  /** Adds formatted lines and returns the incomplete rest. */
  #split(name: OutputStream, bytes: Buffer, lines: Buffer[]): Buffer {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(newline, from);
      const length = (end === -1 ? bytes.length : end) - from;
      if (length > lineBytesMax) {
        lines.push(this.#line(name, bytes.subarray(from, from + lineBytesMax), 'P'));
        from += lineBytesMax;
      } else if (end === -1) {
        return bytes.subarray(from);
      } else {
        lines.push(this.#line(name, bytes.subarray(from, end), 'F'));
        from = end + 1;
      }
    }
  }

  #line(name: OutputStream, text: Buffer, tag: 'F' | 'P'): Buffer {
    const time = new Date(this.#options.clock.now()).toISOString().replace('Z', '000000Z');
    return Buffer.concat([Buffer.from(`${time} ${name} ${tag} `), text, Buffer.from('\n')]);
  }

  #append(lines: Buffer): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write(lines));
    return this.#writing;
  }

  async #write(lines: Buffer): Promise<void> {
    const { path, log } = this.#options;
    try {
      this.#size ??= await sizeOf(path);
      if (this.#size > 0 && this.#size + lines.length > this.#bytesMax) await this.#rotate();
      await appendFile(path, lines, { mode: 0o640 });
      this.#size += lines.length;
      if (this.#lostBytes > 0)
        log.info('the log of a container is written again', { path, lostBytes: this.#lostBytes });
      this.#lostBytes = 0;
    } catch (error) {
      // A full disk loses output; the program continues.
      if (this.#lostBytes === 0) {
        log.warn('failed to write the log of a container', { path, error: asError(error).message });
      }
      this.#lostBytes += lines.length;
      // Part of the lines can be written.
      this.#size = undefined;
    }
  }

  async #rotate(): Promise<void> {
    const { path, clock } = this.#options;
    const stamp = new Date(clock.now()).toISOString().replaceAll(/[-:T.Z]/g, '');
    this.#rotations += 1;
    await rename(path, `${path}.${stamp}-${String(this.#rotations).padStart(6, '0')}`);
    this.#size = 0;
    const rotated = await rotatedFiles(path);
    for (const old of rotated.slice(0, Math.max(0, rotated.length - (this.#filesMax - 1)))) await rm(old);
  }
}

/** Creates the folder of a log file. */
export const makeLogFolder = (path: string): Promise<unknown> => mkdir(dirname(path), { recursive: true, mode: 0o750 });

/** Returns the rotated files of a log, oldest first. */
export async function rotatedFiles(path: string): Promise<string[]> {
  const prefix = `${basename(path)}.`;
  const names = await readdir(dirname(path)).catch(() => []);
  return names
    .filter((name) => name.startsWith(prefix))
    .sort()
    .map((name) => join(dirname(path), name));
}

/** Removes the log of a run. */
export async function removeLog(path: string): Promise<void> {
  for (const file of [path, ...(await rotatedFiles(path))]) await rm(file, { force: true });
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    await makeLogFolder(path);
    return 0;
  }
}
