/** Runs Kubernetes' own conformance specs against Hangar with the real kube-controller-manager and kube-scheduler beside it. */

import { tool } from '../../../tools/tool.ts';
import { startCluster } from '../components/cluster.ts';
import type { Outcome } from './report.ts';
import { runInBatches } from './run-in-batches.ts';
import type { Spec } from './specs.ts';

export interface SuiteOptions {
  readonly specs: readonly Spec[];
  /** Called for each spec as soon as its batch has completed. */
  readonly onOutcome: (outcome: Outcome) => void;
  readonly log: (line: string) => void;
}

/** The specs mostly wait, for controllers and for timers: more processes than cores. */
const processesMax = 4;
const serverErrorsMax = 20;

/** Resolves with one outcome for each spec, in the given order. */
export async function runSuite({ specs, onOutcome, log }: SuiteOptions): Promise<Outcome[]> {
  // Building it takes minutes, during which the server is not needed.
  await tool('e2e', { log });
  await using cluster = await startCluster({ components: ['kube-controller-manager', 'kube-scheduler'] });
  const { kubeconfig, folder } = cluster;
  const outcomes = await runInBatches({ specs, kubeconfig, folder, processesMax, onOutcome });
  for (const line of cluster.logs.get('hangar')!.errors().slice(0, serverErrorsMax)) log(`hangar: ${line}`);
  return outcomes;
}
