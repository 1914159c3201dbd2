/**
 * Serializes retries after a conflict on a shared value, such as the bitmap of node ports: otherwise each of n requests could lose against
 * all others, in n² attempts. The wait is bounded, because an attempt may be held up by a webhook.
 */

import type { Clock } from '@hangar/core';

const last = new WeakMap<object, Promise<unknown>>();

/** Far longer than an attempt without external calls takes. */
const turnMs = 100;

/** Runs `attempt` when the previous one for the same `shared` value has finished or used up its time. */
export function inTurn<T>(shared: object, clock: Clock, attempt: () => Promise<T>): Promise<T> {
  const before = last.get(shared);
  const mine = before ? ended(before, clock).then(attempt) : attempt();
  last.set(shared, mine);
  return mine;
}

const ended = (attempt: Promise<unknown>, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    const timer = clock.after(turnMs, resolve);
    const end = (): void => {
      timer.cancel();
      resolve();
    };
    attempt.then(end, end);
  });
