/**
 * Makes and restores backups in a separate process, as an operator does, and prints the result as JSON: its own memory is measured here.
 *
 *     fill KUBECONFIG TENANT MEBIBYTES         creates a tenant with that much data
 *     backup KUBECONFIG PLACE TENANT           backs up a tenant
 *     restore KUBECONFIG PLACE BACKUP TENANT   creates a tenant from a backup
 *     replace KUBECONFIG PLACE BACKUP TENANT   replaces the data of a tenant
 *     fleet KUBECONFIG PLACE COUNT RESTORED    backs up tenants, restores some of them and compares digests
 *
 * PLACE is a folder, or JSON of an S3 place.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { folderStorage, openDestination, rangeExport, readContainer, s3Storage, writeContainer } from '@hangar/backup';
import type { BackupDestination, S3StorageOptions } from '@hangar/backup';
import { connect, loadKubeconfig } from '@hangar/client';
import type { Client } from '@hangar/client';
import { exportTenant, restoreTenant, SummarizedExport, summaryOf } from '@hangar/controlplane-operator/backup';
import { encodeEntries } from '@hangar/store/transfer';
import type { TransferEntry } from '@hangar/store/transfer';
import { tenantName } from '../tenants/load.ts';

const mebibyte = 1024 * 1024;
const { signal } = new AbortController();

export interface Transferred {
  readonly mebibytes: number;
  readonly seconds: number;
  readonly growthMiB: number;
  readonly objects: number;
  readonly contentDigest: string;
}

export interface Fleet {
  readonly backups: number;
  readonly seconds: number;
  readonly restored: number;
  readonly restoreSeconds: number;
  readonly growthMiB: number;
  /** Restored tenants whose digest is that of the backup. */
  readonly equal: number;
}

/** Bytes of one object. */
const objectBytes = 512 * 1024;

/** Objects that compress as little as Secrets do. */
async function* generated(mebibytes: number): AsyncGenerator<TransferEntry, void, void> {
  const count = Math.ceil((mebibytes * mebibyte) / objectBytes);
  for (let at = 0; at < count; at++) {
    const name = `large-${String(at).padStart(6, '0')}`;
    const metadata = { name, namespace: 'default', uid: randomUUID(), creationTimestamp: '2026-01-01T00:00:00Z' };
    const data = { filler: randomBytes((objectBytes * 3) / 4).toString('base64') };
    const value = Buffer.from(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data }));
    yield { key: `configmaps/default/${name}`, value };
  }
}

function generatedExport(path: string, mebibytes: number): AsyncGenerator<Uint8Array, void, void> {
  const identity = { seed: randomUUID(), createdAt: '2026-01-01T00:00:00Z' };
  const about = { kind: 'TenantBackup', form: 1, path, identity, revision: 1, version: 'generated', hasKeys: false };
  return encodeEntries(generated(mebibytes), Buffer.from(JSON.stringify(about)));
}

function destinationAt(place: string): BackupDestination {
  const storage = place.startsWith('{') ? s3Storage(JSON.parse(place) as S3StorageOptions) : folderStorage(place);
  return openDestination(storage);
}

async function backUp(client: Client, destination: BackupDestination, path: string) {
  const summarized = await SummarizedExport.open(await exportTenant(client, { path, signal }));
  const manifest = {
    payload: rangeExport,
    controlPlane: { name: path, mode: 'Virtual' },
    versions: { hangar: summarized.about.version },
    createdAt: new Date().toISOString(),
  };
  const content = await writeContainer(summarized.content(), { manifest });
  const { sizeBytes } = await destination.put(path, content, { ifExists: 'replace' });
  return { sizeBytes, ...(await summarized.summary()) };
}

interface Restoring {
  readonly destination: BackupDestination;
  readonly backup: string;
  readonly path: string;
  readonly replaces?: boolean;
}

async function restored(client: Client, { destination, backup, path, replaces }: Restoring): Promise<void> {
  const { content } = await destination.get(backup);
  const { payload } = await readContainer(content);
  await restoreTenant(client, { path, upload: payload, replaces, signal });
}

/** Calls with one number each, some at a time. */
async function several(count: number, call: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: 4 }, async () => {
    while (next < count) await call(next++);
  });
  await Promise.all(workers);
}

async function fleet(
  client: Client,
  destination: BackupDestination,
  counts: readonly [number, number],
): Promise<Fleet> {
  const [count, restoredCount] = counts;
  const growth = measureGrowth();
  const digests = new Map<string, string>();
  const begunMs = performance.now();
  await several(count, async (at) => {
    const path = tenantName(at);
    digests.set(path, (await backUp(client, destination, path)).contentDigest);
  });
  const seconds = (performance.now() - begunMs) / 1_000;
  const restoreBegunMs = performance.now();
  let equal = 0;
  await several(restoredCount, async (at) => {
    const backup = tenantName(Math.floor((at * count) / restoredCount));
    const path = `restored-${at}`;
    await restored(client, { destination, backup, path });
    const { contentDigest } = await summaryOf(await exportTenant(client, { path, signal }));
    if (contentDigest === digests.get(backup)) equal++;
  });
  const restoreSeconds = (performance.now() - restoreBegunMs) / 1_000;
  return { backups: count, seconds, restored: restoredCount, restoreSeconds, growthMiB: growth(), equal };
}

/** Returns a function that returns the growth of the memory since this call at its highest, in MiB. */
function measureGrowth(): () => number {
  const startBytes = process.memoryUsage.rss();
  let highestBytes = startBytes;
  const timer = setInterval(() => (highestBytes = Math.max(highestBytes, process.memoryUsage.rss())), 20);
  return () => {
    clearInterval(timer);
    return Math.round((highestBytes - startBytes) / mebibyte);
  };
}

async function transferred(client: Client, path: string, work: () => Promise<unknown>): Promise<Transferred> {
  const growth = measureGrowth();
  const begunMs = performance.now();
  await work();
  const seconds = (performance.now() - begunMs) / 1_000;
  const growthMiB = growth();
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of await exportTenant(client, { path, signal })) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  const { objects, contentDigest } = await summaryOf(counted());
  return { mebibytes: bytes / mebibyte, seconds, growthMiB, objects, contentDigest };
}

async function main([verb, kubeconfig = '', ...words]: readonly string[]): Promise<unknown> {
  const client = connect(await loadKubeconfig(kubeconfig));
  try {
    if (verb === 'fill') {
      const [path, mebibytes] = words as [string, string];
      const upload = generatedExport(path, Number(mebibytes));
      return await transferred(client, path, () => restoreTenant(client, { path, upload, signal }));
    }
    const destination = destinationAt(words[0]!);
    if (verb === 'fleet') return await fleet(client, destination, [Number(words[1]), Number(words[2])]);
    if (verb === 'backup') {
      const path = words[1]!;
      return await transferred(client, path, () => backUp(client, destination, path));
    }
    const [, backup, path] = words as [string, string, string];
    return await transferred(client, path, () =>
      restored(client, { destination, backup, path, replaces: verb === 'replace' }),
    );
  } finally {
    await client.close();
  }
}

if (import.meta.main) console.log(JSON.stringify(await main(process.argv.slice(2))));
