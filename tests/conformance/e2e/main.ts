/**
 * `npm run conformance`: how many of the conformance specs that need no running pods pass here.
 *
 *   --all            also those that only wait (ten minutes and more)
 *   --filter TEXT    only specs whose name contains it
 *   --skip REGEX     not specs whose name matches it
 */

import { parseArgs } from 'node:util';
import { allSpecs } from './specs.ts';
import { runSuite } from './suite.ts';

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    filter: { type: 'string', default: '' },
    skip: { type: 'string' },
  },
});
const specs = allSpecs()
  .filter(({ name }) => name.includes(values.filter))
  .filter(({ name }) => values.skip === undefined || !new RegExp(values.skip).test(name))
  .filter(({ isWaiting }) => values.all || !isWaiting);
if (specs.length === 0) {
  console.error(`no spec contains ${values.filter}`);
  process.exit(2);
}
const startedMs = performance.now();
const outcomes = await runSuite({
  specs,
  log: console.log,
  onOutcome({ spec, passed, seconds, cause }) {
    console.log(`${passed ? '✔' : '✖'} ${spec.name} (${seconds.toFixed(1)} s)${passed ? '' : `\n    ${cause}`}`);
  },
});
const failed = outcomes.filter(({ passed }) => !passed);
if (failed.length > 0) console.log('\nfailed:');
for (const { spec, cause } of failed) console.log(`✖ ${spec.name}\n    ${cause}`);
if (!values.all) console.log('those that only wait were left out: --all');
console.log(`${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
console.log(`${outcomes.length - failed.length} of ${outcomes.length} passed`);
process.exitCode = failed.length === 0 ? 0 : 1;
