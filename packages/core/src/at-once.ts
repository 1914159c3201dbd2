/** Many things, a few at a time. */

import { orAborted } from './waiting.ts';

/** Rejects with the first failure, after the running ones have settled; none is started after it. */
export async function eachAtOnce<T>(
  max: number,
  items: Iterable<T>,
  each: (item: T) => Promise<unknown>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done && !failure; next = iterator.next()) {
      try {
        await each(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: max }, worker));
  if (failure) throw failure.error;
}

/** Limits how many of the tasks that different callers start run at the same time. The others wait in order. */
export class Permits {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#free = max;
  }

  /** Settles like the task. Rejects with `Aborted` if the signal fires before the task starts. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else {
      const turn = Promise.withResolvers<void>();
      this.#waiting.push(turn.resolve);
      await orAborted(turn.promise, signal, () => this.#leave());
    }
    try {
      return await task();
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
