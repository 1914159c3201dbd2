/**
 * Kubernetes' own conformance specs against Hangar with the real kube-controller-manager and kube-scheduler beside it.
 */

import { tool } from '../../../tools/tool.ts';
import { startCluster } from '../components/cluster.ts';
import type { Outcome } from './report.ts';
import { runInBatches } from './run-in-batches.ts';
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
  const { kubeconfig, folder } = cluster;
  const outcomes = await runInBatches({ specs, kubeconfig, folder, processesMax, onOutcome });
  for (const line of cluster.logs.get('hangar')!.errors().slice(0, serverErrorsMax)) log(`hangar: ${line}`);
  return outcomes;
}
