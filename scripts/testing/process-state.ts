/** The state of a process that one test file can leave behind for the next: open handles, environment, listeners, patched built-ins. */

export interface ProcessState {
  /** Handles that keep the process alive, by type. */
  readonly handles: Readonly<Record<string, number>>;
  readonly listeners: Readonly<Record<string, number>>;
  readonly environment: string;
  readonly folder: string;
  readonly builtins: readonly unknown[];
}

export function snapshot(): ProcessState {
  const handles: Record<string, number> = {};
  for (const type of process.getActiveResourcesInfo()) handles[type] = (handles[type] ?? 0) + 1;
  const listeners: Record<string, number> = {};
  for (const event of process.eventNames()) listeners[String(event)] = process.listenerCount(event);
  return {
    handles,
    listeners,
    environment: JSON.stringify(process.env),
    folder: process.cwd(),
    builtins: [
      Date,
      Date.now,
      Math.random,
      performance.now,
      setTimeout,
      setInterval,
      setImmediate,
      fetch,
      console.log,
      console.error,
      process.exit,
      process.kill,
      process.hrtime.bigint,
      process.stdout.write,
      process.stderr.write,
    ],
  };
}

/** Returns what `after` has beyond `before`, in words; empty if another file can run in the process. */
export function differences(before: ProcessState, after: ProcessState): string[] {
  const found = [
    ...more('open handle', before.handles, after.handles),
    ...more('listener', before.listeners, after.listeners),
  ];
  if (before.environment !== after.environment) found.push('changed environment');
  if (before.folder !== after.folder) found.push('changed working directory');
  if (before.builtins.some((value, at) => value !== after.builtins[at])) found.push('patched built-in');
  return found;
}

function more(
  what: string,
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(after)
    .filter(([name, count]) => count > (before[name] ?? 0))
    .map(([name]) => `${what} ${name}`);
}
