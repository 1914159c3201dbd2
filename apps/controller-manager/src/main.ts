/** The process `hangar controller-manager`: command line, signals, exit codes. */

import { availableParallelism, hostname, tmpdir } from 'node:os';
import { asError, giveBackMemory, Logger, systemClock, systemRandom } from '@hangar/core';
import { UsageError } from '@hangar/core/command-line';
import { help } from './options/flags.ts';
import { kubePrograms } from './options/kube-programs.ts';
import { readOptions } from './options/options.ts';
import type { ControllerManagerOptions } from './options/options.ts';
import { ProcessEnd } from './process-end.ts';
import { versionText } from './version.ts';

/** Time to notify other replicas and to close connections, besides the drain of programs. */
export const endOverheadMs = 10_000;
/** Conditions of a thousand clusters are written by then. */
const settledAfterMs = 30_000;

/** `args`: with the command's own name. Does not return once it has started: the process exits with it. */
export async function main([, ...args]: readonly string[]): Promise<void> {
  try {
    const options = await readOptions(args, {
      environment: process.env,
      folder: process.cwd(),
      temporaryFolder: tmpdir(),
      hostName: hostname(),
      cores: availableParallelism(),
      programs: kubePrograms(process.env),
    });
    if (options === 'help') return console.log(help);
    if (options === 'version') return console.log(versionText);
    // Exits despite open connections to this process.
    process.exit(await run(options));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`hangar: ${error.message}`);
    process.exitCode = 2;
  }
}

/** Resolves with the exit code. Rejects with a UsageError. */
async function run(options: ControllerManagerOptions): Promise<number> {
  const { level, format = process.stderr.isTTY ? 'text' : 'json' } = options.logging;
  const clock = systemClock;
  const log = new Logger({ level, format, clock });
  // The reader of the output may have gone: no reason to stop services of clusters.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // Timers of the clock do not keep a process alive, and nothing else may be pending while it waits for a server.
  const staysAlive = setInterval(() => undefined, 2 ** 30);
  const end = new ProcessEnd({ clock, log, withinMs: options.sharing.timings.drainTimeoutMs + endOverheadMs });
  let hasBegun = false;
  try {
    // `--help` does not load all modules.
    const { startControllerManager } = await import('./compose.ts');
    const running = await startControllerManager(options, { clock, random: systemRandom, log, signal: end.signal });
    hasBegun = true;
    void running.synced.then(() => {
      if (end.signal.aborted) return;
      console.log(`ready ${running.url}`);
      clock.after(settledAfterMs, giveBackMemory);
    });
    await running.closed;
    return end.hasFailed ? 1 : 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (hasBegun) log.error('the controller manager failed', { error: asError(error) });
    else console.error(`hangar: ${asError(error).message}`);
    return 1;
  } finally {
    clearInterval(staysAlive);
    end.close();
  }
}
