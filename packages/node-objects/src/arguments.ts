/** Later arguments override earlier ones. Sorted by name, so that the order of fields does not roll out pods. */
export const argumentsOf = (...all: readonly (Readonly<Record<string, string>> | undefined)[]): string[] =>
  Object.entries(Object.assign({}, ...all) as Record<string, string>)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `--${name}=${value}`);
