/** Reads log files as `kubectl logs` does: the last lines, since a time, and new lines while the container runs. */

import { watch } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '@hangar/core';
import { rotatedFiles } from './log-file.ts';

export interface LogReadOptions {
  /** Current log file of a run. */
  readonly path: string;
  /** Number of lines from the end. Absent: all. */
  readonly tailLines?: number | undefined;
  /** Only lines that are not older, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  readonly limitBytes?: number | undefined;
  readonly isTimestamped?: boolean | undefined;
  /** Continues with new lines until this function returns false and all lines are read. Absent: stops at the end of the file. */
  readonly isRunning?: (() => boolean) | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const pollMs = 250;
const chunkBytes = 64 * 1024;

/** Yields text in chunks. */
export async function* readLog(options: LogReadOptions): AsyncGenerator<Buffer> {
  let leftBytes = options.limitBytes ?? Number.POSITIVE_INFINITY;
  for await (const line of selectedLines(options)) {
    const text = formatted(line, options);
    if (!text) continue;
    const part = text.length > leftBytes ? text.subarray(0, leftBytes) : text;
    leftBytes -= part.length;
    yield part;
    if (leftBytes <= 0) return;
  }
}

interface LogLine {
  readonly time: string;
  /** Without the newline. */
  readonly text: Buffer;
  /** The line continues in the next entry. */
  readonly isPart: boolean;
}

function formatted({ time, text, isPart }: LogLine, { isTimestamped, sinceMs }: LogReadOptions): Buffer | undefined {
  if (sinceMs !== undefined && Date.parse(time) < sinceMs) return undefined;
  const parts = [...(isTimestamped ? [Buffer.from(`${time} `)] : []), text, ...(isPart ? [] : [Buffer.from('\n')])];
  return Buffer.concat(parts);
}

async function* selectedLines(options: LogReadOptions): AsyncGenerator<LogLine> {
  const { path, tailLines } = options;
  const last: LogLine[] = [];
  let isTail = tailLines !== undefined;
  for (const file of await rotatedFiles(path)) {
    for await (const line of linesOf(file, options, undefined)) {
      if (!isTail) yield line;
      else keep(last, line, tailLines!);
    }
  }
  const reachedEnd = (): LogLine[] => {
    isTail = false;
    return last.splice(0);
  };
  for await (const line of linesOf(path, options, options.isRunning)) {
    if (line === 'end') {
      yield* reachedEnd();
    } else if (isTail) {
      keep(last, line, tailLines!);
    } else {
      yield line;
    }
  }
  yield* reachedEnd();
}

function keep(last: LogLine[], line: LogLine, count: number): void {
  last.push(line);
  if (last.length > count) last.shift();
}

function linesOf(path: string, options: LogReadOptions, isRunning: undefined): AsyncGenerator<LogLine>;
function linesOf(
  path: string,
  options: LogReadOptions,
  isRunning: (() => boolean) | undefined,
): AsyncGenerator<LogLine | 'end'>;
/** Yields lines; with `isRunning`, yields `end` when it reaches the end of the file, and continues. Follows a rotation. */
async function* linesOf(
  path: string,
  { clock, signal }: LogReadOptions,
  isRunning: (() => boolean) | undefined,
): AsyncGenerator<LogLine | 'end'> {
  let file: FileHandle | undefined;
  let rest: Buffer = Buffer.alloc(0);
  let isRotated = false;
  try {
    for (;;) {
      // Evaluated before the read: lines that are written before the exit are then read.
      const isLast = isRunning?.() !== true;
      file ??= await open(path, 'r').catch(() => undefined);
      for (;;) {
        const { bytesRead, buffer } = (await file?.read(Buffer.alloc(chunkBytes), 0, chunkBytes, null)) ?? empty;
        if (bytesRead === 0) break;
        const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = bytes.lastIndexOf(10) + 1;
        rest = bytes.subarray(end);
        yield* parsed(bytes.subarray(0, end));
      }
      if (isRotated) {
        // The old file is read to its end, and nothing is added to it.
        await file?.close();
        file = undefined;
        isRotated = false;
        continue;
      }
      if (signal.aborted) return;
      if (isLast) {
        isRotated = file !== undefined && isRunning !== undefined && (await isReplaced(file, path));
        if (!isRotated) return;
        continue;
      }
      yield 'end';
      await changed(path, clock, signal);
      isRotated = file !== undefined && (await isReplaced(file, path));
    }
  } finally {
    await file?.close();
  }
}

const empty = { bytesRead: 0, buffer: Buffer.alloc(0) };

function* parsed(bytes: Buffer): Generator<LogLine> {
  let from = 0;
  for (let end = bytes.indexOf(10, from); end !== -1; end = bytes.indexOf(10, from)) {
    const timeEnd = bytes.indexOf(32, from);
    const streamEnd = bytes.indexOf(32, timeEnd + 1);
    const isPart = bytes[streamEnd + 1] === 80;
    if (timeEnd !== -1 && timeEnd < end && streamEnd !== -1 && streamEnd + 3 <= end) {
      yield { time: bytes.toString('latin1', from, timeEnd), text: bytes.subarray(streamEnd + 3, end), isPart };
    }
    from = end + 1;
  }
}

/** A rotation renames the file and creates a new one. */
async function isReplaced(file: FileHandle, path: string): Promise<boolean> {
  const [opened, current] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
  return current !== undefined && current.ino !== opened.ino;
}

/** Resolves when the file changes, and after a short time in any case: the container may have exited. */
function changed(path: string, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      watcher?.close();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(pollMs, done);
    const watcher = watched(path, done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}

function watched(path: string, onChange: () => void) {
  try {
    return watch(path, { persistent: false }, onChange).on('error', onChange);
  } catch {
    // The file does not exist yet.
    return undefined;
  }
}
