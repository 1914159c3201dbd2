/** ControlPlanes through the whole platform, all of them on one ControlPlaneBackupSchedule; some are restored by ControlPlaneRestores. */

import { connect, loadKubeconfig } from '@hangar/client';
import type { ApiObject, Client, Kind } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import {
  ControlPlaneBackup,
  ControlPlaneBackupSchedule,
  ControlPlaneRestore,
} from '../../operators/backup/src/api/index.ts';
import { ControlPlane } from '../../operators/controlplane/src/api/index.ts';
import { isConditionTrue } from '../../packages/runtime/src/helpers/index.ts';
import { residentMiB } from '../server/processes.ts';
import { Hangar } from '../tenants/hangar.ts';

export interface ScheduleResult {
  readonly backups: number;
  /** From the scheduled time to the last complete backup. */
  readonly seconds: number;
  readonly restored: number;
  readonly restoreSeconds: number;
  /** Restored control planes whose digest is that of their backup. */
  readonly equal: number;
  readonly serverGrowthMiB: number;
}

const namespace = 'hangar-system';
const settings = { destination: { folder: { name: 'bench' } }, encryption: { name: 'key' } };
/** Created at the same time. */
const batch = 100;

export function schedule(count: number, restored: number): Promise<ScheduleResult> {
  return Hangar.use([], async (hangar) => {
    await hangar.stop();
    await hangar.start({ isWhole: true });
    const client = connect(await loadKubeconfig(hangar.kubeconfig));
    try {
      await createPlanes(client, count);
      await client.create(Secret, {
        metadata: { name: 'key', namespace },
        stringData: { key: Buffer.alloc(32, 1).toString('base64') },
      });
      const before = residentMiB([hangar.pid]);
      const peak = watchMemory(hangar.pid);
      const seconds = await backUpAll(client, count);
      const restores = await restoreSome(client, restored);
      return { backups: count, seconds, restored, ...restores, serverGrowthMiB: peak.stop() - before };
    } finally {
      await client.close();
    }
  });
}

const nameOf = (at: number): string => `plane-${String(at).padStart(4, '0')}`;

async function createPlanes(client: Client, count: number): Promise<void> {
  for (let from = 0; from < count; from += batch) {
    const names = Array.from({ length: Math.min(batch, count - from) }, (_, at) => nameOf(from + at));
    const isReady = ({ status }: ControlPlane): boolean => isConditionTrue(status?.conditions, 'Ready');
    await untilAll(client, ControlPlane, names, isReady, async () => {
      await Promise.all(names.map((name) => client.create(ControlPlane, { metadata: { name }, spec: {} })));
    });
  }
}

/** Runs a schedule of every minute until each control plane has a backup. Resolves with the duration in seconds. */
async function backUpAll(client: Client, count: number): Promise<number> {
  const spec = { ...settings, controlPlaneSelector: {}, schedule: '* * * * *' };
  const complete = new Map<string, number>();
  const ending = new AbortController();
  const { resourceVersion } = await client.list(ControlPlaneBackup, { namespace });
  await client.create(ControlPlaneBackupSchedule, { metadata: { name: 'bench', namespace }, spec });
  let startedMs = Infinity;
  const watched = client.watch(ControlPlaneBackup, { namespace, resourceVersion, signal: ending.signal });
  for await (const event of watched) {
    if (event.type === 'BOOKMARK') continue;
    const { metadata, spec: made, status } = event.object;
    startedMs = Math.min(startedMs, Math.floor(Date.parse(metadata.creationTimestamp!) / 60_000) * 60_000);
    if (status?.phase === 'Failed') throw new Error(`the backup ${metadata.name} failed`);
    if (status?.phase === 'Complete') complete.set(made.controlPlaneRef.name, Date.now());
    if (complete.size === count) break;
  }
  ending.abort();
  await client.delete(ControlPlaneBackupSchedule, { name: 'bench', namespace });
  return (Math.max(...complete.values()) - startedMs) / 1_000;
}

async function restoreSome(client: Client, count: number): Promise<{ restoreSeconds: number; equal: number }> {
  const { items } = await client.list(ControlPlaneBackup, { namespace });
  const chosen = items.filter((_, at) => at % Math.floor(items.length / count) === 0).slice(0, count);
  const names = chosen.map(({ metadata }) => metadata.name!);
  const startedMs = performance.now();
  const isEnded = ({ status }: ControlPlaneRestore): boolean =>
    status?.phase === 'Complete' || status?.phase === 'Failed';
  const ended = await untilAll(client, ControlPlaneRestore, names, isEnded, async () => {
    await Promise.all(
      chosen.map(({ metadata, spec }) => {
        const controlPlaneRef = { name: `copy-of-${spec.controlPlaneRef.name}` };
        const source = { backupName: metadata.name! };
        return client.create(ControlPlaneRestore, {
          metadata: { name: metadata.name!, namespace },
          spec: { source, controlPlaneRef },
        });
      }),
    );
  });
  const digests = new Map(chosen.map(({ metadata, status }) => [metadata.name!, status?.contentDigest]));
  const equal = ended.filter(
    ({ metadata, status }) =>
      status?.phase === 'Complete' &&
      status.contentDigest !== undefined &&
      status.contentDigest === digests.get(metadata.name!),
  ).length;
  return { restoreSeconds: (performance.now() - startedMs) / 1_000, equal };
}

/** Runs `create`, and resolves with the objects of these names when the condition holds for each of them. */
async function untilAll<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  names: readonly string[],
  isSo: (object: T) => boolean,
  create: () => Promise<void>,
): Promise<readonly T[]> {
  const found = new Map<string, T>();
  const wanted = new Set(names);
  const ending = new AbortController();
  const { resourceVersion } = await client.list(kind);
  const all = (async () => {
    for await (const event of client.watch(kind, { resourceVersion, signal: ending.signal })) {
      if (event.type === 'BOOKMARK') continue;
      const name = event.object.metadata.name!;
      if (wanted.has(name) && isSo(event.object)) found.set(name, event.object);
      if (found.size === wanted.size) return;
    }
  })();
  await create();
  await all;
  ending.abort();
  return [...found.values()];
}

/** Measures the largest memory of a process until `stop`. */
function watchMemory(pid: number): { stop(): number } {
  let peak = 0;
  const measure = (): void => void (peak = Math.max(peak, residentMiB([pid])));
  const timer = setInterval(measure, 200);
  return {
    stop() {
      clearInterval(timer);
      measure();
      return peak;
    },
  };
}
