/**
 * Interface between a driver and the conformance suite. Stores of one driver may share a server: a test uses only its own prefix, and
 * assumes only that revisions grow.
 */

import { test } from 'node:test';
import type { Store } from '../contract.ts';
import { Subject } from './subject.ts';

export interface ConformanceHarness {
  /** Called once for every test. */
  open(): Promise<OpenedStore>;
}

export interface OpenedStore {
  readonly store: Store;
  /** Ends with a slash. No other test writes below it. */
  readonly prefix: string;
  /** Absent: as many conditions in a transaction as writes. */
  readonly conditionsMax?: number;
  /** The driver rejects restored puts with `Unsupported`. */
  readonly refusesRestored?: boolean;
  /** Closes the store if it is open, and opens the same data again, as a restarted process would. */
  reopen(): Promise<Store>;
  /** Closes what is still open and releases all resources. */
  close(): Promise<void>;
}

/** Registers one test that runs with its own store. */
export type Scenario = (name: string, run: (subject: Subject) => Promise<void>) => void;

/** Longer than any test takes: a test that waits for a missing event must fail instead of hanging. */
const timeoutMs = 120_000;

export function scenarioOf(harness: ConformanceHarness): Scenario {
  return (name, run) => {
    test(name, { timeout: timeoutMs }, async () => {
      const opened = await harness.open();
      const subject = new Subject(opened);
      try {
        await run(subject);
      } finally {
        subject.end();
        await opened.close();
      }
    });
  };
}
