/**
 * Those who lost a race for something that all want, such as the bitmap of node ports, try again one after the other: else each
 * of n would lose against all others, and n² attempts were made. Nobody waits long for another one's turn, though: an attempt
 * may be held up by a webhook, which is its own misfortune.
 */

import type { Clock } from '@hangar/core';

const last = new WeakMap<object, Promise<unknown>>();

/** Far more than an attempt takes that asks nobody outside. */
const turnMs = 100;

/** Runs `attempt` when the one that was asked for before it, for the same `shared` thing, has ended or had its time. */
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
