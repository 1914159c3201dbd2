/**
 * All specs except those that only wait pass, and the few that do not are known: `docs/conformance.md` has the cause of each. `npm run
 * conformance` is the same as a command, with options.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allSpecs } from './specs.ts';
import { runSuite } from './suite.ts';

/** By name. Remove a spec from here when it passes. */
const knownFailures: ReadonlySet<string> = new Set();

test("Kubernetes' conformance specs that need no running pods pass", async () => {
  const specs = allSpecs().filter(({ isWaiting }) => !isWaiting);
  const outcomes = await runSuite({ specs, log: console.log, onOutcome: () => {} });
  const failed = outcomes.filter(({ passed }) => !passed);
  const unexpected = failed.filter(({ spec }) => !knownFailures.has(spec.name));
  console.log(`${outcomes.length - failed.length} of ${outcomes.length} passed`);
  assert.equal(outcomes.length, specs.length);
  assert.deepEqual(
    unexpected.map(({ spec, cause }) => `${spec.name}: ${cause}`),
    [],
  );
});
