/**
 * Snapshots of tenants on their way to the members of etcd, as files. They are not needed after the members have them. An operator that
 * restarts before has lost its file, and begins with a new snapshot.
 */

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReplicaFrame } from '@hangar/store';
import { writeSnapshotFile } from '@hangar/store/etcd-snapshot';
import { spoolSnapshotFile } from '../backup/spool.ts';
import type { SpooledSnapshot } from '../backup/spool.ts';
import { ReplicaError } from './contract.ts';
import { decodeStored } from './stored-values.ts';

export interface TenantSnapshot {
  readonly file: SpooledSnapshot;
  /** Networks of cluster IPs of the tenant. */
  readonly serviceCidrs: readonly string[];
}

export const registryPrefix = '/registry/';
const filesMax = 4;
const serviceCidrKey = 'servicecidrs/kubernetes';
const nodePortsKey = 'ranges/servicenodeports';
const lineFeed = 0x0a;

export class SnapshotFiles {
  readonly #folder: string;
  /** By the UID of the restore. */
  readonly #files = new Map<string, TenantSnapshot>();
  #writing = 0;
  #cleared: Promise<unknown> | undefined;

  /** `folder`: for temporary files of one process. Files of an earlier one are removed. */
  constructor(folder: string) {
    this.#folder = join(folder, 'replicas');
  }

  get(uid: string): TenantSnapshot | undefined {
    return this.#files.get(uid);
  }

  /**
   * Reads frames up to the snapshot. Throws `NotReady` if there are too many files, and `Refused` if a kube-apiserver could not start on the
   * content without a write.
   */
  async write(
    uid: string,
    frames: () => AsyncGenerator<ReplicaFrame, void, void>,
    signal: AbortSignal,
  ): Promise<TenantSnapshot> {
    await this.drop(uid);
    if (this.#files.size + this.#writing >= filesMax) {
      throw new ReplicaError('NotReady', `${filesMax} other control planes are being seeded`);
    }
    this.#writing++;
    try {
      await (this.#cleared ??= emptied(this.#folder));
      const seen = new Map<string, Uint8Array>();
      const make = (path: string) => writeSnapshotFile(path, noted(frames(), seen), { prefix: registryPrefix, signal });
      const file = await spoolSnapshotFile(make, this.#folder, signal);
      try {
        const snapshot = { file, serviceCidrs: serviceCidrsIn(seen) };
        requireNodePorts(seen);
        this.#files.set(uid, snapshot);
        return snapshot;
      } catch (error) {
        await file[Symbol.asyncDispose]();
        throw error;
      }
    } finally {
      this.#writing--;
    }
  }

  async drop(uid: string): Promise<void> {
    const snapshot = this.#files.get(uid);
    this.#files.delete(uid);
    await snapshot?.file[Symbol.asyncDispose]();
  }
}

async function emptied(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Remembers the values that decide on the settings of API servers. */
async function* noted(
  frames: AsyncGenerator<ReplicaFrame, void, void>,
  seen: Map<string, Uint8Array>,
): AsyncGenerator<ReplicaFrame, void, void> {
  for await (const frame of frames) {
    if (frame.type === 'entry' && (frame.entry.key === serviceCidrKey || frame.entry.key === nodePortsKey)) {
      seen.set(frame.entry.key, frame.entry.value);
    }
    yield frame;
  }
}

function serviceCidrsIn(seen: ReadonlyMap<string, Uint8Array>): readonly string[] {
  const value = seen.get(serviceCidrKey);
  const { cidrs } = ((value && decodeStored(value)) as { spec?: { cidrs?: string[] } } | undefined)?.spec ?? {};
  if (cidrs === undefined || cidrs.length === 0) throw unprepared('ServiceCIDR "kubernetes"');
  return cidrs;
}

/** kube-apiserver compares the bytes, and writes if they differ. */
function requireNodePorts(seen: ReadonlyMap<string, Uint8Array>): void {
  if (seen.get(nodePortsKey)?.at(-1) !== lineFeed) throw unprepared('allocation of node ports');
}

const unprepared = (what: string): ReplicaError =>
  new ReplicaError('Refused', `the tenant has no ${what} that a kube-apiserver can start with behind the fence`);
