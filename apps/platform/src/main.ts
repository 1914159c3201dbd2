/** Runs `hangar up`, `hangar operator`, `hangar tools` and `hangar pki`. All other commands of `hangar` are in apps/cli. */

import { UsageError } from '@hangar/core/command-line';

/** Flags without a command are those of `up`. */
export async function main(args: readonly string[]): Promise<void> {
  const [first, ...rest] = args;
  try {
    if (first === 'operator') await (await import('./operator/operator.ts')).operator(rest);
    else if (first === 'pki') await (await import('./pki/main.ts')).pki(rest);
    else if (first === 'tools') await (await import('./tools/main.ts')).tools(rest);
    else await (await import('./up/up.ts')).up(first === 'up' ? rest : args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`hangar: ${error.message}`);
    process.exitCode = 2;
  }
}
