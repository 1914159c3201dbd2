/** Prints the logs of all programs when a test of nodes fails. */

import { afterEach } from 'node:test';
import type { TestContext } from 'node:test';

/** Called in a `describe`. `logs` returns the text to print. */
export function printLogsOfFailures(logs: () => Promise<string>): void {
  let isPrinted = false;
  afterEach(async (context) => {
    // Later failures often follow from the first one.
    if (isPrinted || (context as TestContext).passed) return;
    isPrinted = true;
    console.log(await logs());
  });
}

/** Runs the start of a suite; prints the logs when it fails. */
export async function withLogs<T>(logs: () => Promise<string>, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    console.log(await logs());
    throw error;
  }
}
