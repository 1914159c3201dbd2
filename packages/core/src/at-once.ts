/** Many things, a few at a time. */

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
