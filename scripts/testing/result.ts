/** The outcome of one test file, and the messages between the runner and the processes that run test files. */

export interface Failure {
  /** The names of the suites and of the test, joined by ` > `. */
  readonly test: string;
  /** The error with its stack trace. */
  readonly text: string;
}

export interface FileResult {
  /** Relative to the root of the repository. */
  readonly file: string;
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly durationMs: number;
  /** CPU time of the process of the file. On Linux, with the programs that it started and that exited. */
  readonly cpuMs: number;
  /** The end of the output of the file, if it was captured. */
  readonly output: string;
}

/** From the runner to a process. */
export type Request =
  | { readonly kind: 'run'; readonly file: string }
  /** Exit as soon as the event loop is empty. */
  | { readonly kind: 'exit' };

/** From a process to the runner. */
export type Report =
  | { readonly kind: 'started'; readonly test: string }
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** An error outside of every test, attributed to the file that caused it. */
  | { readonly kind: 'stray'; readonly file: string; readonly failure: Failure }
  /** The file is finished. With a reason, the process must not run another file. */
  | { readonly kind: 'finished'; readonly cpuMs: number; readonly retire: string | undefined };

export const testName = (names: readonly string[]): string => names.join(' > ');
