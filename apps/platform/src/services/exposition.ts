/**
 * Merges the metrics of several parts of a process in Prometheus' format, in which a family may occur only once: series of the same family
 * are combined under the first header.
 */

/** Metrics of the process, which the server reports already. */
const ofTheProcess = /^(?:process|nodejs)_/;

export function mergedExposition(texts: readonly string[]): string {
  const families = new Map<string, { head: string[]; series: string[] }>();
  for (const text of texts) {
    let family: { head: string[]; series: string[] } | undefined;
    let isKnown = false;
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const [, name] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name === undefined) {
        if (!line.startsWith('#')) family?.series.push(line);
        continue;
      }
      if (line.startsWith('# HELP')) isKnown = families.has(name);
      family = families.get(name) ?? { head: [], series: [] };
      families.set(name, family);
      if (!isKnown) family.head.push(line);
    }
  }
  return [...families]
    .filter(([name]) => !ofTheProcess.test(name))
    .flatMap(([, { head, series }]) => [...head, ...series])
    .join('\n');
}
