/**
 * The process that runs test files. Imports each requested file into a separate suite, so that hooks at the top level of a file apply to
 * that file only, and reports its results through `reporter.ts`.
 *
 * After each file it compares open handles and process-wide state with the state before the file. A file that left something behind
 * makes the process retire: the next file gets a new process.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { flushCompileCache } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { fileReported, send } from './reporter.ts';
import type { Request } from './result.ts';
import { differences, snapshot } from './process-state.ts';
import { cpuTimeMs } from './cpu-time.ts';
import { describe, installed } from './track-tests.ts';

// Before any test file: `toLegacyObject` of a certificate breaks `node:tls` if that is not loaded yet (Node 26.10).
await import('node:tls');

/** How long the handles of a file may take to close before the process retires. */
const drainLimitMs = 2_000;
/** A process with more memory than this retires. */
const residentBytesMax = 1_200_000_000;

const files = new AsyncLocalStorage<string>();
let current = '';

// Programs that tests start must not inherit the reporter.
process.execArgv.length = 0;

process.on('message', (request: Request) => {
  if (request.kind === 'run') void runFile(request.file);
  else exitWhenIdle();
});
// The runner is gone: stop this process and the programs that its tests started.
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
process.on('uncaughtException', strayError);
process.on('unhandledRejection', strayError);

async function runFile(file: string): Promise<void> {
  // The listeners of the test runner must be in every snapshot.
  await installed;
  current = file;
  const before = snapshot();
  const cpuBeforeMs = cpuTimeMs();
  const reported = fileReported();
  void files.run(file, () => describe(file, async () => void (await import(pathToFileURL(file).href))));
  await reported;
  let left = differences(before, snapshot());
  for (let waitedMs = 0, stepMs = 1; left.length > 0 && waitedMs < drainLimitMs; waitedMs += stepMs, stepMs *= 2) {
    await setTimeout(stepMs, undefined, { ref: false });
    left = differences(before, snapshot());
  }
  if (process.exitCode) {
    send({ kind: 'failed', failure: { test: '(file)', text: `the file set process.exitCode to ${process.exitCode}` } });
    process.exitCode = undefined;
  }
  // Node writes the cache when a process exits. Threads, programs and other processes of this run need it earlier.
  flushCompileCache();
  const residentBytes = process.memoryUsage.rss();
  if (residentBytes > residentBytesMax) left.push(`${Math.round(residentBytes / 1e6)} MB of memory`);
  const cpuMs = cpuTimeMs() - cpuBeforeMs;
  send({ kind: 'finished', cpuMs, retire: left.length > 0 ? left.join(', ') : undefined });
}

/** Lets the process exit by itself, as a process with one test file does: an open handle keeps it alive, and the runner names it. */
function exitWhenIdle(): void {
  process.channel?.unref();
}

/** The test runner fails the running test that caused an error. Without such a test it sets only the exit code. */
function strayError(error: unknown): void {
  const file = files.getStore() ?? current;
  setImmediate(() => {
    if (!process.exitCode) return;
    process.exitCode = undefined;
    send({ kind: 'stray', file, failure: { test: '(outside of every test)', text: inspect(error) } });
  });
}
