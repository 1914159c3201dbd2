/** `npm run conformance -- --nodes`: all [Conformance] specs on a control plane with two nodes. */

import { runInBatches } from '../e2e/run-in-batches.ts';
import type { Outcome } from '../e2e/report.ts';
import type { Spec } from '../e2e/specs.ts';
import { ConformanceCluster } from './cluster.ts';
import { compare, describeComparison } from './comparison.ts';
import { appendResult, chooseSpecs, readResults, removeResults, resultsFile } from './results.ts';
import type { Choice, PlaneName } from './results.ts';
import { conformanceSpecs } from './specs.ts';

export interface NodesRunOptions extends Omit<Choice, 'which'> {
  readonly plane: PlaneName;
  readonly processesMax: number;
  /** Absent: the results of earlier runs are removed, unless `filter` or `skip` choose some specs. */
  readonly continues?: 'missing' | 'failed' | undefined;
}

/** Specs of one process of the test program: few, so that an interrupted run loses little. */
const batchSeconds = 60;
/** A pod that does not start fails after five minutes. */
const marginSeconds = 600;

/** Resolves with false if a spec failed that has to pass: see `isFailure`. */
export async function runWithNodes(options: NodesRunOptions): Promise<boolean> {
  const { plane, filter, skip, continues } = options;
  const all = conformanceSpecs();
  const file = resultsFile(plane);
  if (continues === undefined && filter === '' && skip === undefined) removeResults(file);
  const specs = chooseSpecs(all, readResults(file), { filter, skip, which: continues ?? 'all' });
  console.log(`${specs.length} of ${all.length} specs on ${titles[plane]}; results: ${file}`);
  const outcomes = specs.length === 0 ? [] : await runOnCluster(specs, options, file);
  const results = { real: readResults(resultsFile('real')), hangar: readResults(resultsFile('hangar')) };
  for (const line of describeComparison(compare(all, results), results)) console.log(line);
  return !outcomes.some((outcome) => isFailure(outcome, plane, results.real.get(outcome.spec.name)?.passed));
}

const titles: Readonly<Record<PlaneName, string>> = {
  hangar: 'a control plane of Hangar',
  real: 'the real control plane',
};

async function runOnCluster(specs: readonly Spec[], options: NodesRunOptions, file: string): Promise<Outcome[]> {
  const startedMs = performance.now();
  await using cluster = await ConformanceCluster.start(options.plane, console.log);
  const seconds = (): string => ((performance.now() - startedMs) / 1000).toFixed(0);
  console.log(`cluster is ready after ${seconds()} s`);
  let done = 0;
  const outcomes = await runInBatches({
    specs,
    kubeconfig: cluster.kubeconfig,
    folder: cluster.folder,
    processesMax: options.processesMax,
    batchSeconds,
    marginSeconds,
    nodes: cluster.settings,
    onOutcome(outcome) {
      appendResult(file, outcome);
      console.log(progressLine(outcome, ++done, specs.length));
    },
  });
  console.log(`${seconds()} s`);
  if (outcomes.some(({ passed }) => !passed)) console.log(await cluster.logs());
  return outcomes;
}

/** A failure on Hangar does not count if the spec fails on the real control plane, too. */
export const isFailure = ({ passed }: Outcome, plane: PlaneName, passesOnReal: boolean | undefined): boolean =>
  !passed && (plane === 'real' || passesOnReal !== false);

export function progressLine({ spec, passed, seconds, cause }: Outcome, done: number, total: number): string {
  const line = `[${done}/${total}] ${passed ? '✔' : '✖'} ${spec.name} (${seconds.toFixed(1)} s)`;
  return passed ? line : `${line}\n    ${cause}`;
}
