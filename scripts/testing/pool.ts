/** Runs many test files in a few processes. */

import { TestProcess } from './test-process.ts';
import type { TestProcessOptions } from './test-process.ts';
import type { Failure, FileResult } from './result.ts';
import { WaitingFiles } from './waiting-files.ts';
import type { WaitingFilesOptions } from './waiting-files.ts';

export interface PoolOptions extends Omit<TestProcessOptions, 'onLateFailure' | 'nodeOptions'>, WaitingFilesOptions {
  /** Largest number of files that run at the same time. */
  readonly concurrency: number;
  /** Returns true for a file that may share its process with other files. */
  readonly mayShare: (file: string) => boolean;
  readonly onResult: (result: FileResult) => void;
}

/**
 * A larger young generation: tests create many objects that live for a short time, and collecting them took a tenth of the CPU time. Not for
 * files with a separate process, some of which measure memory.
 */
const sharedProcessOptions: readonly string[] = ['--max-semi-space-size=64'];

/** Starts the files in their order, as far as the limits allow. Returns one result for each file, in the order in which they finished. */
export async function runFiles(files: readonly string[], options: PoolOptions): Promise<FileResult[]> {
  const waiting = new WaitingFiles(files, options);
  const results: FileResult[] = [];
  const late: { file: string; failure: Failure }[] = [];
  const onLateFailure = (file: string, failure: Failure): void => void late.push({ file, failure });
  const start = (isShared: boolean) =>
    new TestProcess({ ...options, onLateFailure, nodeOptions: isShared ? sharedProcessOptions : [] });

  const slot = async (): Promise<void> => {
    let shared: TestProcess | undefined;
    for (;;) {
      const file = await waiting.next();
      if (file === undefined) break;
      const isShared = options.mayShare(file);
      const one = isShared ? (shared ??= start(true)) : start(false);
      let result = await one.run(file);
      if (!isShared || one.retired !== undefined) {
        const problem = await one.exit();
        if (problem)
          result = { ...result, failures: [...result.failures, { test: '(after the last test)', text: problem }] };
        if (isShared) shared = undefined;
      }
      waiting.finished(file);
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
