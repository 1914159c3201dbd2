/** Signs of life while something takes long. */

import type { World } from './world.ts';

const everyMs = 10_000;

/** Logs `line(elapsed)` every ten seconds until the work has ended. */
export async function withElapsed<T>(
  world: Pick<World, 'log'>,
  line: (elapsed: string) => string,
  work: () => Promise<T>,
): Promise<T> {
  const begin = performance.now();
  const timer = setInterval(() => world.log(line(formatElapsed(performance.now() - begin))), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** `42 s`, `3 min 07 s`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}
