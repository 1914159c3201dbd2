/** Measures the engine that runs the real kube-controller-manager, one for each cluster, beside one `hangar up` that has them all. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ground } from '../../tests/controller-manager/testing/ground.ts';
import { ControllerManager } from '../../tests/controller-manager/testing/manager.ts';
import { deleteNamespace } from '../../tests/controller-manager/testing/work.ts';
import { eventually } from '../../tests/examples/testing/eventually.ts';
import { tool } from '../../tools/tool.ts';
import { percentile } from '../table.ts';
import { idleCosts } from './cost.ts';
import type { Row } from './row.ts';

export interface KubeOptions {
  /** Ascending. */
  readonly counts: readonly number[];
  readonly idleMs: number;
  readonly log: (line: string) => void;
}

/** Managers list everything once more, and release the memory. */
const settlingMs = 10_000;
const rounds = 5;
const readyWithinMs = 180_000;

export async function benchKube({ counts, idleMs, log }: KubeOptions): Promise<Row[]> {
  const program = await tool('kube-controller-manager', { log });
  await using ground = await Ground.start();
  const names = Array.from({ length: counts.at(-1)! }, (_, at) => `cluster-${at}`);
  await Promise.all(names.map((name) => ground.up.create(name)));
  const rows: Row[] = [];
  let registered = 0;
  for (const clusters of counts) {
    for (; registered < clusters; registered++) await ground.register(names[registered]!);
    const begunMs = performance.now();
    await using manager = await ControllerManager.start({
      kubeconfig: join(ground.up.dataFolder, 'admin.kubeconfig'),
      peer: 'bench',
      workFolder: join(ground.folder, `work-${clusters}`),
      flags: ['--engine=kube', '--leader-elect=false', `--kube-controller-manager=${program}`],
    });
    await eventually('all clusters are served', () => isServed(manager, clusters), readyWithinMs);
    const readyMs = performance.now() - begunMs;
    log(`kube, ${clusters}: ready after ${(readyMs / 1000).toFixed(1)} s`);
    await sleep(settlingMs);
    const children = manager.others().map(({ pid }) => pid);
    const [parent, beside] = await idleCosts([[manager.pid], children], idleMs);
    const reactMs = await reaction(ground, names[0]!);
    log(`kube, ${clusters}: a namespace is gone after ${reactMs.toFixed(0)} ms`);
    rows.push({ engine: 'kube', clusters, readyMs, parent: parent!, children: beside!, reactMs });
    await manager.end('SIGTERM');
  }
  return rows;
}

async function isServed(manager: ControllerManager, count: number): Promise<boolean> {
  const rows = await manager.clusters();
  return rows.filter(({ services }) => services.controllers?.ready).length === count;
}

async function reaction(ground: Ground, name: string): Promise<number> {
  const client = await ground.up.inside(name);
  const all: number[] = [];
  for (let round = 0; round < rounds; round++) all.push(await deleteNamespace(client, `gone-${round}-${Date.now()}`));
  return percentile(
    all.sort((a, b) => a - b),
    0.5,
  );
}
