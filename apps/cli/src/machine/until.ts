/** Waits for a condition that only polling can detect. The limit is for a failure: it is far above the duration on a busy machine. */

import { setTimeout as sleep } from 'node:timers/promises';
import { lastLines } from './program.ts';
import type { NodeProgram } from './program.ts';

const pollMs = 100;
const limitMs = 120_000;

export interface UntilOptions {
  /** Its exit is a failure; its last output is part of the error. */
  readonly program?: NodeProgram;
}

/** Resolves with the first result of `probe` that is neither undefined nor false. A rejected probe counts as false. */
export async function until<T>(
  condition: string,
  { program }: UntilOptions,
  probe: () => Promise<T | undefined | false>,
): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  for (let last: unknown; ; await sleep(pollMs)) {
    const result = await probe().catch((error: unknown) => void (last = error));
    if (result !== undefined && result !== false) return result;
    const hasExited = program !== undefined && !program.isRunning;
    if (!hasExited && performance.now() < deadlineMs) continue;
    const reason = hasExited ? `${program.logFile} ends` : `timeout after ${limitMs / 1000} s`;
    const output = program ? `\n${await lastLines(program.logFile)}` : '';
    throw new Error(`not reached: ${condition}: ${reason}${output}`, { cause: last });
  }
}
