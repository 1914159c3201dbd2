/** Restart back-off of a container, as in the kubelet: the first restart is immediate, then 10 s, doubled up to 5 min. */

export interface BackOffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

export const restartBackOff: BackOffOptions = { baseMs: 10_000, maxMs: 300_000 };

/** Written to the journal, so that a restart of the runtime does not reset it. */
export interface BackOffState {
  readonly delayMs: number;
  /** Wall time of the last restart. */
  readonly updatedAt: number;
}

/** A container that ran this many times longer than the maximum starts from the beginning. */
const resetRatio = 2;

const isExpired = ({ updatedAt }: BackOffState, { maxMs }: BackOffOptions, now: number): boolean =>
  now - updatedAt > maxMs * resetRatio;

/** Returns the time to wait before a restart. 0: restart now. */
export function remainingMs(
  state: BackOffState | undefined,
  options: BackOffOptions,
  { finishedAt, now }: { finishedAt: number; now: number },
): number {
  if (!state || isExpired(state, options, now)) return 0;
  return Math.max(0, finishedAt + state.delayMs - now);
}

/** Returns the state after a restart. */
export function nextBackOff(state: BackOffState | undefined, options: BackOffOptions, now: number): BackOffState {
  const delayMs =
    !state || isExpired(state, options, now) ? options.baseMs : Math.min(state.delayMs * 2, options.maxMs);
  return { delayMs, updatedAt: now };
}
