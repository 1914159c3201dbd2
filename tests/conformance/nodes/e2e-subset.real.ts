/** CI's part of `npm run conformance -- --nodes`: specs of every kind on a control plane of Hangar with two nodes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInBatches } from '../e2e/run-in-batches.ts';
import { ConformanceCluster } from './cluster.ts';
import { progressLine } from './run.ts';
import { conformanceSpecs, subset } from './specs.ts';

/** The specs mostly wait, for pods and for timers: more processes than cores. */
const processesMax = 4;
const batchSeconds = 40;
/** A pod that does not start fails after five minutes. */
const marginSeconds = 360;

test("Kubernetes' conformance specs that need running pods pass on a control plane of Hangar with two nodes", async () => {
  const chosen = new Set(subset);
  const specs = conformanceSpecs().filter(({ name }) => chosen.has(name));
  await using cluster = await ConformanceCluster.start('hangar', console.log);
  let done = 0;
  const outcomes = await runInBatches({
    specs,
    kubeconfig: cluster.kubeconfig,
    folder: cluster.folder,
    processesMax,
    batchSeconds,
    marginSeconds,
    nodes: cluster.settings,
    onOutcome: (outcome) => console.log(progressLine(outcome, ++done, specs.length)),
  });
  const failed = outcomes.filter(({ passed }) => !passed);
  if (failed.length > 0) console.log(await cluster.logs());
  assert.equal(outcomes.length, subset.length);
  assert.deepEqual(
    failed.map(({ spec, cause }) => `${spec.name}: ${cause}`),
    [],
  );
});
