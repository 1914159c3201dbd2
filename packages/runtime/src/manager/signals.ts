/**
 * The signals by which a process is asked to end, as an AbortSignal: the first fires it, so that `manager.run` ends in good
 * order; the second ends the process at once, with exit code 1.
 */

const names = ['SIGTERM', 'SIGINT'] as const;

let handled: AbortSignal | undefined;

/** One for the process, however often it is asked for. */
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
