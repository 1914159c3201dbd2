/**
 * Collects what must be undone when a function fails halfway, or later when the result is closed:
 *
 *     await using opened = new CleanupStack();
 *     opened.defer(() => store.close());
 *     const cleanups = opened.move();
 *     return { close: () => cleanups.run() };
 *
 * It is the part of AsyncDisposableStack that we use. Node 22 does not have that class.
 */
export class CleanupStack implements AsyncDisposable {
  #cleanups: (() => unknown)[] = [];

  /** Cleanups run in the reverse order, one at a time. */
  defer(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  /** Returns a stack with all cleanups, and leaves this one empty. */
  move(): CleanupStack {
    const moved = new CleanupStack();
    moved.#cleanups = this.#cleanups;
    this.#cleanups = [];
    return moved;
  }

  /** Runs every cleanup once, also when others fail. Rejects with the error, or with an AggregateError when there are several. */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (let cleanup = this.#cleanups.pop(); cleanup; cleanup = this.#cleanups.pop()) {
      try {
        await cleanup();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} cleanups failed`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.run();
  }
}
