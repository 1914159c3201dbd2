/**
 * What a driver gives to the conformance suite. Stores of one driver may share a server: a test works below its own
 * prefix only, and takes nothing for granted about revisions but that they grow.
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
  /** Ends with a slash; nobody else has ever written below it. */
  readonly prefix: string;
  /** Absent: as many conditions in a transaction as writes. */
  readonly conditionsMax?: number;
  /** Closes the store where that was not done yet, and opens the same data again, as a restarted process would. */
  reopen(): Promise<Store>;
  /** Closes whatever of this is still open and gives it back. */
  close(): Promise<void>;
}

/** Registers one test that runs with a store of its own. */
export type Scenario = (name: string, run: (subject: Subject) => Promise<void>) => void;

/** No test takes long; one that waits for an event that never comes must fail and not hang. */
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
