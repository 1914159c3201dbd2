/** Prints results: a line per file as it finishes, the details of failures, and the summary. */

import { appendFileSync } from 'node:fs';
import type { FileResult } from './result.ts';

/** Number of files in the table of the slowest. */
const slowestCount = 15;
/** Number of lines of a failure that are repeated at the end of `.ci/run`, whose beginning is often not kept. */
const repeatedLines = 12;

export function printFile({ file, passed, failures, durationMs, cpuMs }: FileResult): void {
  const mark = failures.length === 0 ? '✔' : '✖';
  console.log(`${mark} ${file}  ${passed}/${passed + failures.length}  ${seconds(durationMs)} ${seconds(cpuMs)} CPU`);
}

export function printDetails({ file, failures, output }: FileResult): void {
  for (const { test, text } of failures) console.log(`\n✖ ${file}: ${test}\n${indented(text)}`);
  if (failures.length > 0 && output) console.log(`\noutput of ${file}:\n${indented(output)}`);
}

export interface Summary {
  readonly name: string;
  readonly first: readonly FileResult[];
  /** The second results of files that failed. */
  readonly again: readonly FileResult[];
  readonly durationMs: number;
}

/**
 * Prints the slowest files, the flaky and the failed tests, and `N passed, N failed` on the last line. Records the same for `.ci/run`.
 * Returns true if all tests passed.
 */
export function printSummary(summary: Summary): boolean {
  const { passed, failed, lines, details } = summarize(summary);
  console.log();
  console.log(`${summary.name}: ${summary.first.length} files in ${seconds(summary.durationMs)}; the slowest:`);
  const slowest = summary.first.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, slowestCount);
  for (const { file, durationMs, cpuMs } of slowest) {
    console.log(`${seconds(durationMs).padStart(9)} ${seconds(cpuMs).padStart(9)} CPU  ${file}`);
  }
  for (const line of lines) console.log(line);
  console.log(`${passed} passed, ${failed} failed`);
  recordCounts(passed, failed, [...lines, ...details]);
  return failed === 0;
}

/** Appends counts and lines to the file HANGAR_TEST_COUNTS, which `.ci/run` adds up and prints last. */
export function recordCounts(passed: number, failed: number, lines: readonly string[]): void {
  const counts = process.env['HANGAR_TEST_COUNTS'];
  if (counts) appendFileSync(counts, [`${passed} ${failed}`, ...lines, ''].join('\n'));
}

/** The first lines of a failure, indented below its name. */
export function excerpt(text: string): string {
  return indented(text.split('\n').slice(0, repeatedLines).join('\n'));
}

/** Counts tests. The second result of a file replaces its first one. */
export function summarize({ first, again }: Pick<Summary, 'first' | 'again'>): {
  passed: number;
  failed: number;
  /** `flaky: FILE: TEST` and `✖ FILE: TEST`. */
  lines: string[];
  /** The beginning of each failure, below its name. */
  details: string[];
} {
  const second = new Map(again.map((result) => [result.file, result]));
  const final = first.map((result) => second.get(result.file) ?? result);
  const flaky = first.filter(({ file, failures }) => failures.length > 0 && second.get(file)?.failures.length === 0);
  return {
    passed: sum(final.map((result) => result.passed)),
    failed: sum(final.map((result) => result.failures.length)),
    lines: [...named('flaky:', flaky), ...named('✖', final)],
    details: [...flaky, ...final].flatMap(({ failures }) => {
      return failures.map(({ test, text }) => `  ${test}:\n${indented(excerpt(text))}`);
    }),
  };
}

function named(mark: string, results: readonly FileResult[]): string[] {
  return results.flatMap(({ file, failures }) => failures.map(({ test }) => `${mark} ${file}: ${test}`));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ');
