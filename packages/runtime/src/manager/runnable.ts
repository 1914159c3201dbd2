/** Runnables: the components that a manager starts and stops. */

import { hasCode } from '@hangar/core';

/** A component that a manager starts and stops. */
export interface Runnable {
  /** Name for messages. Absent: the name of the class. */
  readonly name?: string;
  /** Runs until the signal is aborted, cleans up and resolves. A rejection stops the manager. Resolving earlier is allowed. */
  start(signal: AbortSignal): Promise<void>;
}

/** A runnable as a function. */
export type RunnableFunction = (signal: AbortSignal) => Promise<void>;

export const asRunnable = (given: Runnable | RunnableFunction): Runnable =>
  typeof given === 'function' ? { name: given.name, start: given } : given;

export const runnableName = (runnable: Runnable): string =>
  runnable.name || Object.getPrototypeOf(runnable)?.constructor?.name || 'runnable';

/** Reports whether an error is the result of an abort, which is not a failure. */
export const isAbort = (error: unknown): boolean =>
  hasCode(error, 'Aborted') || (error instanceof Error && error.name === 'AbortError');
