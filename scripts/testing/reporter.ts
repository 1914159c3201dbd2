/**
 * The test reporter inside a process that runs test files (`--test-reporter`). Sends every result to the runner. The top-level suites
 * are the files; `fileReported` resolves as soon as all results of the current file are sent.
 */

import { Transform } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { testName } from './result.ts';
import type { Failure, Report } from './result.ts';

let resolveReported: (() => void) | undefined;

export function fileReported(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  resolveReported = resolve;
  return promise;
}

export function send(report: Report): void {
  if (process.connected) process.send!(report);
}

/** The names of the suites and tests that contain the current event; the file itself is left out. */
const names: string[] = [];

function handle({ type, data }: TestEvent): void {
  switch (type) {
    case 'test:dequeue':
      if (data.nesting > 0) send({ kind: 'started', test: data.name });
      return;
    case 'test:start':
      names.length = data.nesting;
      names[data.nesting] = data.name;
      return;
    case 'test:pass':
    case 'test:fail':
      names.length = data.nesting;
      names[data.nesting] = data.name;
      report(type === 'test:pass', data);
      if (data.nesting === 0) resolveReported?.();
  }
}

type Result = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>['data'];

function report(passed: boolean, { details, skip, todo }: Result): void {
  const test = testName(names.slice(1));
  if (!passed) {
    const failure = failureOf(test, (details as { error?: Error }).error);
    if (failure) send({ kind: 'failed', failure });
  } else if (details.type !== 'suite') {
    // A skipped test is a hole in the suite.
    const skipped = skip !== undefined || todo !== undefined;
    send(skipped ? { kind: 'failed', failure: { test, text: 'the test was skipped' } } : { kind: 'passed' });
  }
}

/** Returns nothing for a suite or test that failed only because of a subtest, whose failure is reported separately. */
function failureOf(test: string, error: (Error & { failureType?: string }) | undefined): Failure | undefined {
  if (error?.failureType === 'subtestsFailed') return undefined;
  const cause = error?.cause instanceof Error ? error.cause : error;
  return { test: test || '(load)', text: inspect(cause) };
}

export default new Transform({
  writableObjectMode: true,
  transform(event: TestEvent, _encoding, done) {
    handle(event);
    done();
  },
});
