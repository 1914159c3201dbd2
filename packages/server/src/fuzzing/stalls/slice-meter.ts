/** Measures the longest synchronous slice of work of an action, in CPU time of this thread. */

/** Turns of the event loop after the action: background work starts there. */
const settlingTurns = 4;
/** After this many turns the action waits for something else: the meter checks less often. */
const busyTurnsMax = 2_000;
const idleTickMs = 1;

export interface Measured<T> {
  readonly value: T;
  readonly longestMs: number;
}

/**
 * Runs the action. A ticker on the same event loop runs between any two slices, and reads the CPU time of this thread since the previous
 * tick: time of other processes or threads is not counted.
 */
export async function measureSlices<T>(action: () => Promise<T>): Promise<Measured<T>> {
  await turn();
  let [longestMs, lastMs, turns, isOver] = [0, cpuMs(), 0, false];
  const note = (): void => {
    const nowMs = cpuMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const tick = (): void => {
    note();
    if (isOver) return;
    if (++turns < busyTurnsMax) setImmediate(tick);
    else setTimeout(tick, idleTickMs);
  };
  setImmediate(tick);
  try {
    const value = await action();
    for (let left = settlingTurns; left > 0; left--) await turn();
    note();
    return { value, longestMs };
  } finally {
    isOver = true;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
