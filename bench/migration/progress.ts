/** Progress of runs that take long, and their end by a signal. */

import { seconds } from '../hosted/units.ts';

/** Returns a function that prints a line with the time since the start. */
export function progressLines(): (text: string) => void {
  const startMs = performance.now();
  return (text) => console.log(`[${seconds(performance.now() - startMs).padStart(8)}] ${text}`);
}

/** Disposes the stack when the process is interrupted or terminated: the platform runs in a separate process. */
export function disposeOnSignal(stack: AsyncDisposableStack): void {
  const end = (signal: NodeJS.Signals): void => {
    console.log(`${signal}: stopping`);
    // The run fails because its programs end. The process must not exit before all of them have ended.
    process.on('uncaughtException', () => {});
    void stack.disposeAsync().finally(() => process.exit(1));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, end);
    stack.defer(() => void process.off(signal, end));
  }
}
