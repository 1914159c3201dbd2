/** Several errors in one text, each once: `[a, b]`, or `a` alone. */
export function aggregateText(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
}
