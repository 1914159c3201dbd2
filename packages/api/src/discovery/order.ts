/** Comparison for `sort`: by a text, in the order of code units, which is also Go's order for the texts of this API. */
export const by =
  <T>(keyOf: (value: T) => string) =>
  (a: T, b: T): number => {
    const [left, right] = [keyOf(a), keyOf(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  };
