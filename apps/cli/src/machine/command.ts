/** Runs a program of the system and waits for it. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const timeoutMs = 60_000;
const outputBytesMax = 64 * 1024 * 1024;

/** Returns the standard output. Rejects with the error output of the program. */
export async function run(program: string, ...args: readonly string[]): Promise<string> {
  const options = { timeout: timeoutMs, maxBuffer: outputBytesMax, killSignal: 'SIGKILL' } as const;
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    throw new Error(`${[program, ...args].join(' ')}: ${stderr.trim() || message}`, { cause: error });
  }
}
