/** What a manager runs: controllers, and whatever else has a beginning and an end. */

import { hasCode } from '@hangar/core';

export interface Runnable {
  /** For messages. Absent: its class. */
  readonly name?: string;
  /** Works until the signal, ends what it began, then resolves. A rejection ends the manager; to resolve early is fine. */
  start(signal: AbortSignal): Promise<void>;
}

export type RunnableFunction = (signal: AbortSignal) => Promise<void>;

export const asRunnable = (given: Runnable | RunnableFunction): Runnable =>
  typeof given === 'function' ? { name: given.name, start: given } : given;

export const runnableName = (runnable: Runnable): string =>
  runnable.name || Object.getPrototypeOf(runnable)?.constructor?.name || 'runnable';

/** How what was asked to end may end: that is no failure. */
export const isAbort = (error: unknown): boolean =>
  hasCode(error, 'Aborted') || (error instanceof Error && error.name === 'AbortError');
