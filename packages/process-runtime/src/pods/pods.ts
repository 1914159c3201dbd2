/** All pods of the node: one worker each, from the informer of pods and from the journals of an earlier supervisor. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '@hangar/client/kinds/core-v1';
import type { LocalPod } from '../network/service-table.ts';
import { readPodRecord } from './pod-record.ts';
import type { PodRecord } from './pod-record.ts';
import { PodWorker } from './pod-worker.ts';
import type { PodWorld } from './world.ts';

export interface PodsOptions {
  readonly world: PodWorld;
  /** Called when the address or the readiness of a pod changes. */
  readonly onNetworkChange: () => void;
  /** Called after a pod is removed. */
  readonly onGone: (pod: Pod) => void;
}

/** Maximum grace period when the machine shuts down. */
const shutDownGraceMs = 15_000;

export class Pods {
  readonly #options: PodsOptions;
  readonly #workers = new Map<string, PodWorker>();
  /** Journals whose pods were not seen yet. */
  readonly #records = new Map<string, PodRecord>();

  #isStopping = false;

  constructor(options: PodsOptions) {
    this.#options = options;
    const { podsFolder, network } = options.world;
    for (const uid of foldersIn(podsFolder)) {
      const record = readPodRecord(join(podsFolder, uid));
      if (!record) continue;
      this.#records.set(uid, record);
      network.pods.reserve(record.address);
    }
  }

  get size(): number {
    return this.#workers.size;
  }

  all(): PodWorker[] {
    return [...this.#workers.values()];
  }

  byName(namespace: string, name: string, uid?: string): PodWorker | undefined {
    return this.all().find(
      ({ pod: { metadata } }) =>
        metadata.namespace === namespace && metadata.name === name && (uid === undefined || metadata.uid === uid),
    );
  }

  localPods(): LocalPod[] {
    return this.all()
      .map(({ pod, address, isReady }) => ({ pod, address, isReady }))
      .sort((a, b) => ((a.pod.metadata.creationTimestamp ?? '') < (b.pod.metadata.creationTimestamp ?? '') ? -1 : 1));
  }

  update(pod: Pod): void {
    const uid = pod.metadata.uid!;
    const known = this.#workers.get(uid);
    if (known) return known.update(pod);
    // The next runtime starts it.
    if (this.#isStopping) return;
    const record = this.#records.get(uid);
    this.#records.delete(uid);
    // A finished pod needs no worker, unless it left something behind or is being deleted.
    const { phase } = pod.status ?? {};
    const isOver = phase === 'Succeeded' || phase === 'Failed';
    if (isOver && !record && pod.metadata.deletionTimestamp === undefined) return;
    this.#start(pod, record);
  }

  remove(pod: Pod): void {
    this.#workers.get(pod.metadata.uid!)?.objectGone();
  }

  /** Terminates the programs of deleted pods that an earlier supervisor started. Called after the first list of pods. */
  endLeftovers(): void {
    for (const [uid, record] of this.#records) {
      const { namespace, name, containers } = record;
      const spec = { containers: Object.keys(containers).map((container) => ({ name: container })) };
      const worker = this.#start({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, uid }, spec }, record);
      worker.objectGone();
    }
    this.#records.clear();
  }

  pokeAll(namespace?: string): void {
    for (const worker of this.#workers.values()) {
      if (namespace === undefined || worker.pod.metadata.namespace === namespace) worker.poke();
    }
  }

  /**
   * Terminates the containers of all pods, for a machine that shuts down. Pods with claims stop last: a program can need its database to
   * exit. kube-apiserver without etcd would use its whole grace period.
   */
  async stopAll(): Promise<void> {
    this.#isStopping = true;
    const [stateful, others] = [this.all().filter(hasClaim), this.all().filter((worker) => !hasClaim(worker))];
    for (const workers of [others, stateful]) {
      await Promise.all(workers.map((worker) => worker.shutDown(shutDownGraceMs)));
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((worker) => worker.close()));
  }

  #start(pod: Pod, record: PodRecord | undefined): PodWorker {
    const uid = pod.metadata.uid!;
    const worker = new PodWorker({
      world: this.#options.world,
      pod,
      record,
      onNetworkChange: () => this.#options.onNetworkChange(),
      onGone: () => {
        this.#workers.delete(uid);
        this.#options.onGone(worker.pod);
        this.#options.onNetworkChange();
      },
    });
    this.#workers.set(uid, worker);
    this.#options.onNetworkChange();
    return worker;
  }
}

const hasClaim = ({ pod: { spec } }: PodWorker): boolean =>
  (spec?.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
