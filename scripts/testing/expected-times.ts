/**
 * How long the longest test files with real programs take, and how much CPU time they use, on two cores. Files are started in an order and
 * beside each other so that the cores are used all the time: see `waiting-files.ts`. The figures in `expected-times.json` are seconds and
 * need not be exact. Update them from the lines that a run prints: `✔ FILE  N/N  DURATION CPU`. That CPU time does not include programs that
 * outlive the process that started them, such as the processes of pods: the files that start many of them have estimates.
 */

import { readFileSync } from 'node:fs';

export interface ExpectedTime {
  readonly durationMs: number;
  readonly cpuMs: number;
}

// No import: the selection of changed tests takes paths in sources for dependencies.
const text = readFileSync(new URL('./expected-times.json', import.meta.url), 'utf8');
const longest = JSON.parse(text) as Readonly<Record<string, readonly [duration: number, cpu: number]>>;
/** The mean of all other files. */
const other = [10, 5] as const;

export const expectedFiles: readonly string[] = Object.keys(longest);

export function expectedTime(file: string): ExpectedTime {
  const [duration, cpu] = longest[file] ?? other;
  return { durationMs: duration * 1_000, cpuMs: cpu * 1_000 };
}
