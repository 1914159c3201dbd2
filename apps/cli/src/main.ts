/** Entry of `hangar COMMAND`: runs every command that does not serve. */

import { processSession } from './process-session.ts';
import { run } from './run.ts';

/** Sets the exit code of the process, and resolves when all output is written. Never rejects. */
export async function main(args: readonly string[]): Promise<void> {
  const interrupted = new AbortController();
  const onSignal = (): void => {
    // A second signal exits at once.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
  };
  for (const name of signals) process.on(name, onSignal);
  // The reader has closed the pipe, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  // Timers of the product do not keep a process alive, but a command may wait for one.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    process.exitCode = await run(processSession(interrupted.signal), args);
  } finally {
    clearInterval(alive);
    for (const name of signals) process.off(name, onSignal);
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
