/**
 * Does what the workload controllers and the kubelet do, as far as the operator sees it: the status of Deployments and StatefulSets
 * becomes that of a complete roll-out, and a deletion in the foreground completes. The test can hold workloads back.
 */

import type { ApiObject, Client, Kind } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { hasCode } from '@hangar/core';

export interface WorkloadDouble {
  /** Workloads whose name matches stay as they are. */
  holdBack: RegExp | undefined;
  /** Number of ready pods by the name of the workload, instead of all. */
  readonly ready: Map<string, number>;
  /** Names of workloads whose deletion is complete, in their order. */
  readonly deleted: readonly string[];
  /** Completes workloads again, after a change of the fields above. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

type Workload = Deployment | StatefulSet;

export function workloadDouble(client: Client): WorkloadDouble {
  const ending = new AbortController();
  const { signal } = ending;
  const double = {
    holdBack: undefined as RegExp | undefined,
    ready: new Map<string, number>(),
    deleted: new Array<string>(),
  };
  const foreground = 'foregroundDeletion';
  /** The pods of a workload that is deleted in the foreground are gone: the garbage collector removes its finalizer. */
  const release = async <T extends Workload>(kind: Kind<T>, { metadata }: T): Promise<void> => {
    const { namespace, name = '', uid, finalizers = [] } = metadata;
    if (!finalizers.includes(foreground)) return;
    const body = { metadata: { uid, finalizers: finalizers.filter((one) => one !== foreground) } };
    try {
      await client.patch(kind, { namespace, name }, { type: 'merge', body }, { signal });
      double.deleted.push(name);
    } catch (error) {
      // An earlier event released it.
      if (!hasCode(error, 'NotFound') && !hasCode(error, 'Conflict')) throw error;
    }
  };
  const complete = async <T extends Workload>(kind: Kind<T>, object: T): Promise<void> => {
    const { namespace, name = '', generation = 0 } = object.metadata;
    if (double.holdBack?.test(name)) return;
    if (object.metadata.deletionTimestamp !== undefined) return release(kind, object);
    const replicas = object.spec?.replicas ?? 1;
    const ready = double.ready.get(name) ?? replicas;
    const status = {
      observedGeneration: generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: ready,
      availableReplicas: ready,
    };
    const isSame = Object.entries(status).every(
      ([field, value]) => ((object.status as Record<string, number> | undefined)?.[field] ?? 0) === value,
    );
    if (!isSame) await client.status.patch(kind, { namespace, name }, { type: 'merge', body: { status } }, { signal });
  };
  const follow = async <T extends Workload>(kind: Kind<T>): Promise<void> => {
    while (!signal.aborted) {
      const options = { signal, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const };
      for await (const event of client.watch(kind as Kind<ApiObject>, options)) {
        if (event.type === 'ADDED' || event.type === 'MODIFIED') await complete(kind, event.object as T);
      }
    }
  };
  const running = Promise.allSettled([follow(Deployment), follow(StatefulSet)]);
  return Object.assign(double, {
    async refresh() {
      for (const object of (await client.list(Deployment)).items) await complete(Deployment, object);
      for (const object of (await client.list(StatefulSet)).items) await complete(StatefulSet, object);
    },
    async stop() {
      ending.abort();
      await running;
    },
  });
}
