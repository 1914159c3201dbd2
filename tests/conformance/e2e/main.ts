/**
 * `npm run conformance`: how many of Kubernetes' conformance specs pass here. Without `--nodes`, those that need no running pods.
 *
 *   --all            also those that only wait (ten minutes and more); always with --nodes
 *   --filter TEXT    only specs whose name contains it
 *   --skip REGEX     not specs whose name matches it
 *   --nodes          all 446 specs, on a control plane with two real nodes; the results are kept in a file and compared
 *   --real           with --nodes: on the real control plane instead of one of Hangar
 *   --processes N    with --nodes: processes of the test program at a time (6)
 *   --continue       with --nodes: only specs that have no result so far
 *   --failed         with --nodes: only specs that failed or have no result so far
 */

import { parseArgs } from 'node:util';
import { allSpecs } from './specs.ts';
import { runSuite } from './suite.ts';

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    filter: { type: 'string', default: '' },
    skip: { type: 'string' },
    nodes: { type: 'boolean', default: false },
    real: { type: 'boolean', default: false },
    processes: { type: 'string', default: '6' },
    continue: { type: 'boolean', default: false },
    failed: { type: 'boolean', default: false },
  },
});
const skip = values.skip === undefined ? undefined : new RegExp(values.skip);
process.exitCode = (values.nodes ? await withNodes() : await withoutNodes()) ? 0 : 1;

async function withNodes(): Promise<boolean> {
  const processesMax = Number(values.processes);
  if (!Number.isInteger(processesMax) || processesMax < 1) return usageError('--processes takes a whole number from 1');
  const { runWithNodes } = await import('../nodes/run.ts');
  const continues = values.failed ? 'failed' : values.continue ? 'missing' : undefined;
  const plane = values.real ? 'real' : 'hangar';
  return runWithNodes({ plane, processesMax, continues, filter: values.filter, skip });
}

async function withoutNodes(): Promise<boolean> {
  if (values.real || values.continue || values.failed) {
    return usageError('--real, --continue and --failed require --nodes');
  }
  const specs = allSpecs()
    .filter(({ name }) => name.includes(values.filter))
    .filter(({ name }) => !skip?.test(name))
    .filter(({ isWaiting }) => values.all || !isWaiting);
  if (specs.length === 0) return usageError(`no spec contains ${values.filter}`);
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
  return failed.length === 0;
}

function usageError(message: string): never {
  console.error(message);
  process.exit(2);
}
