/** Runs specs of Kubernetes' own test program against a server, in one process, one after the other. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../tools/run.ts';
import { tool } from '../../../tools/tool.ts';
import { tenantName, whereTenantsHaveNames } from '../servers/place.ts';
import { outcomesOf } from './report.ts';
import type { Outcome } from './report.ts';
import type { Spec } from './specs.ts';

/** Settings of the test program that depend on the nodes of the cluster. */
export interface NodeSettings {
  readonly flags: readonly string[];
  /** Additional variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** The test program does not wait for nodes. */
const withoutNodes: NodeSettings = { flags: ['--num-nodes=1', '--allowed-not-ready-nodes=-1'], env: {} };

export interface RunSpecsOptions {
  readonly kubeconfig: string;
  readonly specs: readonly Spec[];
  /** For output files: its report and its log. */
  readonly folder: string;
  readonly timeoutMs: number;
  /** Absent: a cluster without nodes. */
  readonly nodes?: NodeSettings;
}

/** The program writes its report after its own timeout; then it is killed. */
const lastWordsMs = 60_000;

/** Resolves with one outcome for each spec, also after a failure. */
export async function runSpecs(options: RunSpecsOptions): Promise<Outcome[]> {
  const { kubeconfig, specs, folder, timeoutMs, nodes = withoutNodes } = options;
  const report = join(folder, 'report.json');
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${await tool('kubectl')}`,
    '--provider=skeleton',
    ...nodes.flags,
    '--minStartupPods=0',
    '--disable-log-dump',
    `--ginkgo.focus=${specs.map(({ name }) => `${escaped(name)}$`).join('|')}`,
    `--ginkgo.timeout=${Math.round(timeoutMs / 1000)}s`,
    `--ginkgo.json-report=${report}`,
    '--ginkgo.no-color',
  ];
  const command = await whereTenantsHaveNames({ path: await tool('e2e'), args }, tenantName, folder);
  // HOME: kubectl caches its discovery there.
  const env = { ...process.env, ...nodes.env, HOME: folder };
  const result = await run(command.path, command.args, { timeoutMs: timeoutMs + lastWordsMs, cwd: folder, env });
  const text = await readFile(report, 'utf8').catch(() => '[]');
  const lastLines = [...result.stdout.split('\n'), ...result.stderr.split('\n')].slice(-20).join('\n');
  return outcomesOf(specs, JSON.parse(text), `${result.failure ?? 'no report'}: ${lastLines}`);
}

const escaped = (name: string): string => name.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
