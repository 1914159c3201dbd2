/**
 * Disrupts members of the etcd of a HostedControlPlane on the process runtime, one at a time, and waits until all of them are healthy voters
 * again.
 *
 *     const disruptions = new EtcdDisruptions(cluster, { random });
 *     await disruptions.one();                        // 'wipe demo-etcd-1'
 */

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PersistentVolume, PersistentVolumeClaim, Pod } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { openEtcdMaintenance } from '@hangar/store/etcd-maintenance';
import { until } from '../../process-runtime/testing/until.ts';
import { etcdAccess, etcdPods } from './etcd-access.ts';
import { key, namespace } from './process-cluster.ts';
import type { ProcessCluster } from './process-cluster.ts';

/**
 * `kill`: SIGKILL of the process. `delete`: the pod. `wipe`: all files of the member, then SIGKILL. `replace`: the claim and the pod, so that
 * the member starts on another volume.
 */
export type Disruption = 'kill' | 'delete' | 'wipe' | 'replace';
export const disruptions: readonly Disruption[] = ['kill', 'delete', 'wipe', 'replace'];

export interface MemberHealth {
  readonly pod: string;
  readonly id: string;
  readonly isLearner: boolean;
}

export class EtcdDisruptions {
  readonly #cluster: ProcessCluster;
  readonly #random: () => number;
  readonly counts: Record<Disruption, number> = { kill: 0, delete: 0, wipe: 0, replace: 0 };

  /** `random`: from 0 to 1. */
  constructor(cluster: ProcessCluster, { random = Math.random }: { random?: () => number } = {}) {
    this.#cluster = cluster;
    this.#random = random;
  }

  /** Disrupts a random member. Returns a description when all members are healthy again. */
  async one(kind: Disruption = this.#pick(disruptions)): Promise<string> {
    const { client } = this.#cluster;
    const before = await this.healthy();
    const pod = this.#pick(await etcdPods(client, key));
    const name = pod.metadata.name!;
    const member = before.find((one) => one.pod === name)!;
    await this.#disrupt(kind, pod);
    this.counts[kind]++;
    const losesData = kind === 'wipe' || kind === 'replace';
    await until(
      `${name} is replaced after ${kind}`,
      async () => {
        const now = (await this.#members()).find((one) => one.pod === name);
        return now !== undefined && (!losesData || now.id !== member.id) && (await this.#restarted(pod));
      },
      () => this.describe(),
    );
    await this.healthy();
    return `${kind} ${name}`;
  }

  /** Resolves with the members when all pods of the set are healthy voters. */
  healthy(): Promise<readonly MemberHealth[]> {
    return until(
      'all members of etcd are healthy voters',
      async () => {
        const pods = await etcdPods(this.#cluster.client, key);
        const members = await this.#members();
        const isComplete = members.length === pods.length && members.every(({ isLearner }) => !isLearner);
        return isComplete && pods.length > 0 && members;
      },
      () => this.describe(),
    );
  }

  async describe(): Promise<string> {
    const pods = await etcdPods(this.#cluster.client, key);
    const lines = pods.map(({ metadata, status }) => JSON.stringify([metadata.name, status?.containerStatuses]));
    return [JSON.stringify(await this.#members()), ...lines].join('\n');
  }

  /** Returns the members that answer. */
  async #members(): Promise<readonly MemberHealth[]> {
    const all = await etcdAccess(this.#cluster.client, key);
    const found = await Promise.all(
      all.map(async ({ pod, endpoints, tls }) => {
        const etcd = openEtcdMaintenance({ endpoints, tls, requestTimeoutMs: 2_000 });
        try {
          const [{ member, leader }, members] = await Promise.all([etcd.status(), etcd.members()]);
          const self = members.find(({ id }) => id === member);
          return self && leader !== undefined
            ? [{ pod: pod.metadata.name!, id: String(member), isLearner: self.isLearner }]
            : [];
        } catch {
          return [];
        } finally {
          etcd.close();
        }
      }),
    );
    return found.flat();
  }

  async #disrupt(kind: Disruption, pod: Pod): Promise<void> {
    const { client } = this.#cluster;
    const name = pod.metadata.name!;
    const claim = { namespace, name: `data-${name}` };
    if (kind === 'wipe') await wipe(await this.#folder(claim.name));
    if (kind === 'kill' || kind === 'wipe') return this.#cluster.kill(pod);
    // The claim stays until its pod is gone.
    if (kind === 'replace') await client.delete(PersistentVolumeClaim, claim);
    await client.delete(Pod, { namespace, name });
  }

  /** Whether the process of a pod is another one than at that time. */
  async #restarted({ metadata, status }: Pod): Promise<boolean> {
    try {
      const now = await this.#cluster.client.get(Pod, { namespace, name: metadata.name! });
      const restarts = (of: Pod['status']): number => of?.containerStatuses?.[0]?.restartCount ?? 0;
      return now.metadata.uid !== metadata.uid || restarts(now.status) > restarts(status);
    } catch (error) {
      if (hasCode(error, 'NotFound')) return false;
      throw error;
    }
  }

  async #folder(claim: string): Promise<string> {
    const { client } = this.#cluster;
    const { spec } = await client.get(PersistentVolumeClaim, { namespace, name: claim });
    const volume = await client.get(PersistentVolume, { name: spec!.volumeName! });
    return volume.spec!.hostPath!.path;
  }

  #pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)]!;
  }
}

async function wipe(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}
