/** What `hangar COMMAND` does when a person or a script starts it: every command that does not serve. */

import { processSession } from './process-session.ts';
import { run } from './run.ts';

/** Sets the exit code of the process, and resolves when everything is said. Never rejects. */
export async function main(args: readonly string[]): Promise<void> {
  const interrupted = new AbortController();
  const onSignal = (): void => {
    // Who asks twice does not wait for anything.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
  };
  for (const name of signals) process.on(name, onSignal);
  // The reader has gone, as `head` does: there is nobody to tell.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  // Timers of the product do not keep a process alive, and waiting for one is work here.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    process.exitCode = await run(processSession(interrupted.signal), args);
  } finally {
    clearInterval(alive);
    for (const name of signals) process.off(name, onSignal);
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
