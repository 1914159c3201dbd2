/** Runs many test files in a few processes. */

import { TestProcess } from './test-process.ts';
import type { TestProcessOptions } from './test-process.ts';
import type { Failure, FileResult } from './result.ts';

export interface PoolOptions extends Omit<TestProcessOptions, 'onLateFailure'> {
  /** Number of files that run at the same time. */
  readonly concurrency: number;
  /** Returns true for a file that may share its process with other files. */
  readonly mayShare: (file: string) => boolean;
  /** Returns the group of a file of which only one file runs at a time. Undefined: the file belongs to no group. */
  readonly exclusiveGroup?: (file: string) => number | undefined;
  readonly onResult: (result: FileResult) => void;
}

/** Returns one result for each file, in the order in which the files finished. */
export async function runFiles(files: readonly string[], options: PoolOptions): Promise<FileResult[]> {
  const waiting = new WaitingFiles(files, options.exclusiveGroup);
  const results: FileResult[] = [];
  const late: { file: string; failure: Failure }[] = [];
  const start = () => new TestProcess({ ...options, onLateFailure: (file, failure) => late.push({ file, failure }) });

  const slot = async (): Promise<void> => {
    let shared: TestProcess | undefined;
    for (;;) {
      const file = waiting.take();
      if (file === undefined) break;
      const isShared = options.mayShare(file);
      const one = isShared ? (shared ??= start()) : start();
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

/** Files that wait for a slot. Those of groups come first, so that other files run beside each of them. */
class WaitingFiles {
  readonly #groupOf: NonNullable<PoolOptions['exclusiveGroup']>;
  readonly #files: string[];
  readonly #running = new Set<number>();

  constructor(files: readonly string[], groupOf: PoolOptions['exclusiveGroup'] = () => undefined) {
    this.#groupOf = groupOf;
    const isGrouped = (file: string): boolean => groupOf(file) !== undefined;
    this.#files = [...files.filter(isGrouped), ...files.filter((file) => !isGrouped(file))];
  }

  /** Undefined: the remaining files belong to groups of running files, whose slots take them. */
  take(): string | undefined {
    const at = this.#files.findIndex((file) => {
      const group = this.#groupOf(file);
      return group === undefined || !this.#running.has(group);
    });
    if (at === -1) return undefined;
    const [file] = this.#files.splice(at, 1);
    const group = this.#groupOf(file!);
    if (group !== undefined) this.#running.add(group);
    return file;
  }

  finished(file: string): void {
    const group = this.#groupOf(file);
    if (group !== undefined) this.#running.delete(group);
  }
}
