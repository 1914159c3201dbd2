/** How long one turn of the event loop takes while something happens. */

import { setImmediate as turn } from 'node:timers/promises';

/** CPU time of the main thread: other processes on the machine do not count. */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Runs `act`, and measures every turn of the loop until it is done. */
async function longestTurnMs(act: () => Promise<unknown>): Promise<number> {
  const running = act();
  let isDone = false;
  const end = (): void => void (isDone = true);
  running.then(end, end);
  let longestMs = 0;
  for (let before = cpuMs(); !isDone;) {
    await turn();
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  }
  await running;
  return longestMs;
}

/** The shortest of the longest turns of some tries: a collection of garbage may fall into one of them. */
export async function bestLongestTurnMs(act: (attempt: number) => Promise<unknown>, attempts = 3): Promise<number> {
  let bestMs = Infinity;
  for (let attempt = 0; attempt < attempts; attempt++) {
    bestMs = Math.min(bestMs, await longestTurnMs(() => act(attempt)));
  }
  return bestMs;
}
