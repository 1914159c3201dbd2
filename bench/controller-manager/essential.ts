/**
 * Measures the engine that runs the essential set for all clusters in one process. The clusters are idle control planes of one `hangar up`;
 * the process is `hangar controller-manager` as in production.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiObject, Kind } from '@hangar/client';
import { ControlPlane, ControlPlaneRegistration } from '@hangar/controlplane-operator';
import { eachAtOnce } from '@hangar/core';
import { Ground } from '../../tests/controller-manager/testing/ground.ts';
import { ControllerManager } from '../../tests/controller-manager/testing/manager.ts';
import { deleteNamespace } from '../../tests/controller-manager/testing/work.ts';
import { residentMiB } from '../server/processes.ts';
import { percentile } from '../table.ts';
import { idleCosts } from './cost.ts';
import { inspectorFlag } from '../inspector.ts';
import { heapOf } from './heap.ts';
import type { Row } from './row.ts';

export interface EssentialOptions {
  /** Ascending. */
  readonly counts: readonly number[];
  readonly log: (line: string) => void;
}

/** Idle connections are closed by then, and conditions written. */
const settlingMs = 40_000;
const idleMs = 10_000;
const rounds = 5;
const withinMs = 600_000;
const createdAtOnce = 16;
/** Long, because a request for a thousand clusters is expensive. */
const pollMs = 250;

export async function benchEssential({ counts, log }: EssentialOptions): Promise<Row[]> {
  await using ground = await Ground.start();
  const rows: Row[] = [];
  let before: Memory | undefined;
  let created = 0;
  for (const clusters of counts) {
    await createAll(ground, created, clusters);
    created = clusters;
    log(`essential, ${clusters}: registered`);
    const { row, memory } = await measured(ground, clusters);
    // The fixed part is in both.
    const more = before && perCluster(memory, before);
    rows.push(more ? { ...row, idleClusterKiB: more.heapKiB } : row);
    const each = more ? `; each more: ${more.heapKiB.toFixed(1)} KiB, ${more.residentKiB.toFixed(1)} KiB resident` : '';
    log(`essential, ${clusters}: heap ${mib(memory.heapKiB)}, resident ${mib(memory.residentKiB)}${each}`);
    before = memory;
  }
  return rows;
}

interface Memory {
  readonly clusters: number;
  /** After a full collection, with buffers. */
  readonly heapKiB: number;
  readonly residentKiB: number;
}

const mib = (kib: number): string => `${(kib / 1024).toFixed(1)} MiB`;

function perCluster(now: Memory, before: Memory): Pick<Memory, 'heapKiB' | 'residentKiB'> {
  const count = now.clusters - before.clusters;
  return {
    heapKiB: (now.heapKiB - before.heapKiB) / count,
    residentKiB: (now.residentKiB - before.residentKiB) / count,
  };
}

const nameOf = (at: number): string => `cluster-${at}`;

async function createAll({ client }: Ground, from: number, to: number): Promise<void> {
  const names = Array.from({ length: to - from }, (_, at) => nameOf(from + at));
  await eachAtOnce(createdAtOnce, names, async (name) => {
    await client.create(ControlPlane, { metadata: { name }, spec: {} });
    const spec = { controlPlaneRef: { name }, services: ['controllers'] };
    await client.create(ControlPlaneRegistration, { metadata: { name }, spec });
  });
  const isReady = (one: ApiObject): boolean => (one as { status?: { ready?: boolean } }).status?.ready === true;
  const count = async (kind: Kind<ApiObject>): Promise<number> =>
    (await client.list(kind)).items.filter(isReady).length;
  const registrations = ControlPlaneRegistration as unknown as Kind<ApiObject>;
  await until('all registrations are ready', async () => (await count(registrations)) === to);
}

async function measured(ground: Ground, clusters: number): Promise<{ readonly row: Row; readonly memory: Memory }> {
  const begunMs = performance.now();
  await using manager = await startManager(ground, clusters);
  await until('all clusters are served', () => isServed(manager, clusters));
  const readyMs = performance.now() - begunMs;
  // Before memory is measured: code that is loaded with the first work is shared by all.
  const reactMs = await reaction(ground);
  await sleep(settlingMs);
  const [parent] = await idleCosts([[manager.pid]], idleMs);
  // First: the inspector adds to the resident memory.
  const residentKiB = residentMiB([manager.pid]) * 1024;
  const { usedKiB, backingKiB } = await heapOf(manager.pid, () => manager.log);
  const memory = { clusters, heapKiB: usedKiB + backingKiB, residentKiB };
  await manager.end('SIGTERM');
  return { row: { engine: 'essential', clusters, readyMs, parent: parent!, reactMs }, memory };
}

async function startManager(ground: Ground, clusters: number): Promise<ControllerManager> {
  const before = process.env['NODE_OPTIONS'];
  process.env['NODE_OPTIONS'] = `${before ?? ''} ${inspectorFlag}`.trim();
  try {
    return await ControllerManager.start({
      kubeconfig: join(ground.up.dataFolder, 'admin.kubeconfig'),
      peer: 'bench',
      workFolder: join(ground.folder, `essential-${clusters}`),
      flags: ['--engine=essential', '--leader-elect=false'],
    });
  } finally {
    if (before === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = before;
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(pollMs);
  }
}

async function isServed(manager: ControllerManager, count: number): Promise<boolean> {
  const all = await manager.clusters();
  return all.filter(({ services }) => services.controllers?.ready).length === count;
}

async function reaction(ground: Ground): Promise<number> {
  const client = await ground.up.inside(nameOf(0));
  const all: number[] = [];
  for (let round = 0; round < rounds; round++) all.push(await deleteNamespace(client, `gone-${round}-${Date.now()}`));
  return percentile(
    all.sort((a, b) => a - b),
    0.5,
  );
}
