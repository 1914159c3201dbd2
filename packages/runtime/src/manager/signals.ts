/**
 * Turns SIGTERM and SIGINT into an AbortSignal for `manager.run`. The first signal starts the graceful shutdown; the second exits the
 * process immediately with code 1.
 */

const names = ['SIGTERM', 'SIGINT'] as const;

let handled: AbortSignal | undefined;

/** Returns the AbortSignal of the process. All calls return the same one. */
export function signals(): AbortSignal {
  if (handled) return handled;
  const controller = new AbortController();
  for (const name of names) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(1);
      controller.abort(new Error(`the process received ${name}`));
    });
  }
  return (handled = controller.signal);
}
