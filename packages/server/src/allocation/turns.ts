/**
 * Those who lost a race for something that all want, such as the bitmap of node ports, try again one after the other: else each
 * of n would lose against all others, and n² attempts were made.
 */

const last = new WeakMap<object, Promise<unknown>>();

/** Runs `attempt` when all that were asked for before it, for the same `shared` thing, have ended. */
export function inTurn<T>(shared: object, attempt: () => Promise<T>): Promise<T> {
  const before = last.get(shared) ?? Promise.resolve();
  const mine = before.then(attempt, attempt);
  last.set(shared, mine);
  return mine;
}
