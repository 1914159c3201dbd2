/**
 * Kubernetes' own conformance specs against Hangar with the real kube-controller-manager and kube-scheduler beside it:
 * several processes of the test program at a time, then those specs that must be alone.
 */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from '../../../tools/tool.ts';
import { startCluster } from '../components/cluster.ts';
import { batchesOf, timeoutSecondsOf } from './batches.ts';
import type { Outcome } from './report.ts';
import { runSpecs } from './run-specs.ts';
import type { Spec } from './specs.ts';

export interface SuiteOptions {
  readonly specs: readonly Spec[];
  /** Told of each spec as soon as its batch has ended. */
  readonly onOutcome: (outcome: Outcome) => void;
  readonly log: (line: string) => void;
}

/** The specs mostly wait, for controllers and for each other's clocks: more processes than cores. */
const processesMax = 4;
const serverErrorsMax = 20;

/** One outcome for each spec, in the order in which they came. */
export async function runSuite({ specs, onOutcome, log }: SuiteOptions): Promise<Outcome[]> {
  // Building it takes minutes, in which the server would only be in the way.
  await tool('e2e', { log });
  await using cluster = await startCluster({ components: ['kube-controller-manager', 'kube-scheduler'] });
  const outcomes: Outcome[] = [];
  let folders = 0;
  const runBatch = async (batch: readonly Spec[]): Promise<Spec[]> => {
    const folder = join(cluster.folder, `batch-${folders++}`);
    await mkdir(folder);
    const timeoutMs = timeoutSecondsOf(batch) * 1000;
    const found = await runSpecs({ kubeconfig: cluster.kubeconfig, specs: batch, folder, timeoutMs });
    // Those behind one that hung did not get their turn; unless nothing of the batch did.
    const isEnded = found.every((one) => one.wasRun) || !found.some((one) => one.wasRun);
    const told = found.filter((one) => one.wasRun || isEnded);
    outcomes.push(...told);
    told.forEach(onOutcome);
    return isEnded ? [] : found.filter((one) => !one.wasRun).map((one) => one.spec);
  };
  await runAll(batchesOf(specs.filter((spec) => !spec.isAlone)), processesMax, runBatch);
  await runAll(batchesOf(specs.filter((spec) => spec.isAlone)), 1, runBatch);
  for (const line of cluster.logs.get('hangar')!.errors().slice(0, serverErrorsMax)) log(`hangar: ${line}`);
  return outcomes;
}

/** `run` gives back what must be run again. */
async function runAll(
  queue: Spec[][],
  processes: number,
  run: (batch: readonly Spec[]) => Promise<Spec[]>,
): Promise<void> {
  const work = async (): Promise<void> => {
    for (let batch = queue.shift(); batch; batch = queue.shift()) {
      const again = await run(batch);
      if (again.length > 0) queue.push(again);
    }
  };
  await Promise.all(Array.from({ length: processes }, work));
}
