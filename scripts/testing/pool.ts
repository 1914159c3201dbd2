/** Runs many test files in a few processes. */

import { TestProcess } from './test-process.ts';
import type { TestProcessOptions } from './test-process.ts';
import type { Failure, FileResult } from './result.ts';

export interface PoolOptions extends Omit<TestProcessOptions, 'onLateFailure'> {
  /** Number of files that run at the same time. */
  readonly concurrency: number;
  /** Returns true for a file that may share its process with other files. */
  readonly mayShare: (file: string) => boolean;
  /** Returns true for a file that never runs at the same time as another file for which it returns true. */
  readonly isExclusive?: (file: string) => boolean;
  readonly onResult: (result: FileResult) => void;
}

/** Returns one result for each file, in the order in which the files finished. */
export async function runFiles(files: readonly string[], options: PoolOptions): Promise<FileResult[]> {
  const { isExclusive = () => false } = options;
  const exclusive = files.filter((file) => isExclusive(file));
  const others = files.filter((file) => !isExclusive(file));
  let exclusiveRuns = false;
  const results: FileResult[] = [];
  const late: { file: string; failure: Failure }[] = [];
  const start = () => new TestProcess({ ...options, onLateFailure: (file, failure) => late.push({ file, failure }) });

  const slot = async (): Promise<void> => {
    let shared: TestProcess | undefined;
    for (;;) {
      // Exclusive files come first, so that other files run beside each of them.
      const excludes = exclusive.length > 0 && !exclusiveRuns;
      const file = excludes ? exclusive.shift() : others.shift();
      if (file === undefined) break;
      if (excludes) exclusiveRuns = true;
      const isShared = options.mayShare(file);
      const one = isShared ? (shared ??= start()) : start();
      let result = await one.run(file);
      if (!isShared || one.retired !== undefined) {
        const problem = await one.exit();
        if (problem)
          result = { ...result, failures: [...result.failures, { test: '(after the last test)', text: problem }] };
        if (isShared) shared = undefined;
      }
      if (excludes) exclusiveRuns = false;
      results.push(result);
      options.onResult(result);
    }
    await shared?.exit();
  };
  await Promise.all(Array.from({ length: Math.min(options.concurrency, files.length) }, slot));

  return results.map((result) => {
    const more = late.filter(({ file }) => file === result.file).map(({ failure }) => failure);
    return more.length === 0 ? result : { ...result, failures: [...result.failures, ...more] };
  });
}
