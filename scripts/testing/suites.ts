/** The two suites of tests: which files belong to each, and how they share the machine. */

import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { seededRandom } from '@hangar/core';
import { expectedTime } from './expected-times.ts';
import type { ExpectedTime } from './expected-times.ts';
import type { Limits } from './test-process.ts';
import { longestFirst } from './waiting-files.ts';
import type { WaitingFilesOptions } from './waiting-files.ts';

export interface Suite {
  readonly pattern: string;
  readonly limits: Limits;
  /** Largest number of files that run at the same time. */
  readonly concurrency: number;
  /** If present, the longest files start first, and a file starts only if a core is free for it. */
  readonly expected: ((file: string) => ExpectedTime) | undefined;
  /** Whether test files share processes. */
  readonly sharesProcesses: boolean;
  /** Matches files that run last, one after the other, while no other file runs. */
  readonly alone: RegExp | undefined;
  /** Each matches a group of files of which only one runs at a time. Other files run at the same time. */
  readonly exclusive: readonly RegExp[];
  /** Whether the output of the tests is printed while they run: progress and figures. */
  readonly printsOutput: boolean;
}

export const suites: Readonly<Record<string, Suite>> = {
  unit: {
    pattern: '*.test.ts',
    limits: { fileMs: 5 * 60_000, silenceMs: 2 * 60_000 },
    concurrency: availableParallelism() + 2,
    expected: undefined,
    sharesProcesses: true,
    alone: undefined,
    exclusive: [],
    printsOutput: false,
  },
  // Real programs compete for the machine. Files that measure short times with many programs, or write as fast as they can, run alone:
  // the one that fills databases takes three minutes so, and twelve beside others. Files that depend on the time
  // limits of Kubernetes mostly wait: one of each group runs beside other files, which use the CPU time that remains. All
  // nodes with network namespaces are in one group, and all other hosted control planes in the other one.
  real: {
    pattern: '*.real.ts',
    limits: { fileMs: 20 * 60_000, silenceMs: 5 * 60_000 },
    concurrency: availableParallelism() + 3,
    expected: expectedTime,
    sharesProcesses: false,
    alone: /leader-election\.real|tests\/controller-manager\/replicas|tests\/hosted\/etcd-space/,
    exclusive: [
      /e2e|essential-controllers|tests\/(controller-manager|nodes|platform)\/|hosted\/(kubelet|worker)/,
      /tests\/(hosted|migration|readme)\//,
    ],
    printsOutput: true,
  },
};

export function filesOf(suite: Suite, root: string): string[] {
  const files = globSync(`{packages,operators,services,apps,bench,scripts,tests,tools}/**/${suite.pattern}`, {
    cwd: root,
  });
  // Tests of several packages take longest: they come first, so that no process is left with a long file at the end.
  const rank = (file: string): number => (file.startsWith('tests/') ? 0 : file.startsWith('apps/') ? 1 : 2);
  return files.filter((file) => !file.includes('node_modules')).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Returns the limits for files that run at the same time. */
export function limitsOf(suite: Suite): WaitingFilesOptions {
  const { expected } = suite;
  const load = (file: string): number => {
    const { durationMs, cpuMs } = expected!(file);
    return cpuMs / durationMs;
  };
  return {
    exclusiveGroup: (file) => groupOf(suite, file),
    ...(expected && { load, loadMax: availableParallelism() }),
  };
}

/** Returns the files in the order in which they start. */
export function inStartOrder(suite: Suite, files: readonly string[]): readonly string[] {
  const { expected } = suite;
  if (!expected) return files;
  const exclusiveGroup = (file: string): number | undefined => groupOf(suite, file);
  return longestFirst(files, { durationMs: (file) => expected(file).durationMs, exclusiveGroup });
}

/** Returns the index of the exclusive group of a file. */
function groupOf({ exclusive }: Suite, file: string): number | undefined {
  const at = exclusive.findIndex((group) => group.test(file));
  return at === -1 ? undefined : at;
}

/** Matches a comment at the start of a line: `// isolated: measures the memory of the process`. */
const isolated = /^\/\/ isolated: \S/m;

/** Returns true if the file may run in a process that runs other files, too. */
export function mayShareProcess(suite: Suite, path: string): boolean {
  return suite.sharesProcesses && !isolated.test(readFileSync(path, 'utf8'));
}

/** Returns the files in an order that depends on the seed alone. */
export function shuffled(files: readonly string[], seed: number): string[] {
  const random = seededRandom(seed);
  const keys = new Map(files.map((file) => [file, random.fraction()]));
  return files.toSorted((a, b) => keys.get(a)! - keys.get(b)!);
}
