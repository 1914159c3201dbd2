/** Runs specs against one control plane: several processes of the test program at a time, then those specs that must run alone. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { batchesOf, timeoutSecondsOf } from './batches.ts';
import type { Outcome } from './report.ts';
import { runSpecs } from './run-specs.ts';
import type { NodeSettings } from './run-specs.ts';
import type { Spec } from './specs.ts';

export interface RunInBatchesOptions {
  readonly specs: readonly Spec[];
  readonly kubeconfig: string;
  /** For output files; a folder in it for each batch. */
  readonly folder: string;
  readonly processesMax: number;
  /** Duration of the specs of one process. Absent: as for the whole suite. */
  readonly batchSeconds?: number;
  /** Part of a batch's timeout that does not depend on its specs. Absent: as for the whole suite. */
  readonly marginSeconds?: number;
  /** Absent: a cluster without nodes. */
  readonly nodes?: NodeSettings;
  /** Called for each spec as soon as its batch has completed. */
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Resolves with one outcome for each spec, in the given order. */
export async function runInBatches(options: RunInBatchesOptions): Promise<Outcome[]> {
  const { specs, kubeconfig, nodes, processesMax, batchSeconds, marginSeconds, onOutcome } = options;
  const outcomes: Outcome[] = [];
  let folders = 0;
  const runBatch = async (batch: readonly Spec[]): Promise<Spec[]> => {
    const folder = join(options.folder, `batch-${folders++}`);
    await mkdir(folder);
    const timeoutMs = timeoutSecondsOf(batch, marginSeconds) * 1000;
    const found = await runSpecs({ kubeconfig, specs: batch, folder, timeoutMs, ...(nodes && { nodes }) });
    // Specs behind one that hung were not run; unless none of the batch was.
    const isEnded = found.every((one) => one.wasRun) || !found.some((one) => one.wasRun);
    const told = found.filter((one) => one.wasRun || isEnded);
    outcomes.push(...told);
    told.forEach(onOutcome);
    return isEnded ? [] : found.filter((one) => !one.wasRun).map((one) => one.spec);
  };
  await runAll(
    batchesOf(
      specs.filter((spec) => !spec.isAlone),
      batchSeconds,
    ),
    processesMax,
    runBatch,
  );
  await runAll(
    batchesOf(
      specs.filter((spec) => spec.isAlone),
      batchSeconds,
    ),
    1,
    runBatch,
  );
  return outcomes;
}

/** `run` returns the specs to run again. */
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
