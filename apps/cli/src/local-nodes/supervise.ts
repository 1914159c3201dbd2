/** Starts programs of a node again when they exit. */

import { setTimeout as sleep } from 'node:timers/promises';
import { asError } from '@hangar/core';

/** A program that runs: `NodeProgram` of `machine/`. */
export interface Exiting {
  exited(): Promise<number | null>;
}

export interface Supervised {
  readonly name: string;
  readonly program: Exiting;
  start(): Promise<Exiting>;
}

export interface SuperviseOptions {
  readonly signal: AbortSignal;
  report(line: string): void;
  readonly delayMs?: number;
}

const defaultDelayMs = 2_000;

/** Resolves after the signal. Never rejects: it retries the start of a program after a failure. */
export async function supervise(all: readonly Supervised[], options: SuperviseOptions): Promise<void> {
  await Promise.all(all.map((one) => keepRunning(one, options)));
}

async function keepRunning({ name, program, start }: Supervised, options: SuperviseOptions): Promise<void> {
  const { signal, report, delayMs = defaultDelayMs } = options;
  const aborted = new Promise<'aborted'>((resolve) => {
    if (signal.aborted) resolve('aborted');
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
  for (let running: Exiting | undefined = program; ;) {
    const code = await Promise.race([aborted, running?.exited()]);
    if (code === 'aborted' || signal.aborted) return;
    // A program that a signal terminates has no exit code.
    if (running) report(`${name} ${code === null ? 'was killed' : `exited with code ${code}`}, restarting`);
    await Promise.race([aborted, sleep(delayMs, undefined, { signal }).catch(() => {})]);
    if (signal.aborted) return;
    running = await start().catch((error: unknown) => void report(`${name} cannot start: ${asError(error).message}`));
  }
}
