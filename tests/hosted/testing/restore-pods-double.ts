/**
 * Does what a kubelet does with the pods of restores: they succeed at once. Records the number of etcd members that the StatefulSet wants
 * when a pod appears, because most pods must not use a volume that etcd uses.
 */

import type { Client } from '@hangar/client';
import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Pod } from '@hangar/client/kinds/core-v1';
import { find } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { componentLabel } from '../../../operators/hosted/src/render/index.ts';
import { restoreComponent } from '../../../operators/hosted/src/restore/pods.ts';

export interface RestorePodsDouble extends AsyncDisposable {
  /** Names of pods and the desired number of etcd members, in their order. */
  readonly seen: readonly (readonly [pod: string, members: number])[];
}

export function restorePodsDouble(client: Client, namespace: string): RestorePodsDouble {
  const ending = new AbortController();
  const { signal } = ending;
  const seen: [string, number][] = [];
  const complete = async ({ metadata, status }: Pod): Promise<void> => {
    const name = metadata.name!;
    if (status?.phase === 'Succeeded' || metadata.deletionTimestamp !== undefined) return;
    const set = await find(client, StatefulSet, { namespace, name: name.replace(/-[a-z]+-\d+$/, '') }, { signal });
    seen.push([name, set?.spec?.replicas ?? 0]);
    const body = { status: { phase: 'Succeeded' as const } };
    await client.status.patch(Pod, { namespace, name }, { type: 'merge', body }, { signal });
  };
  const follow = async (): Promise<void> => {
    const labelSelector = { [componentLabel]: restoreComponent };
    const options = {
      namespace,
      labelSelector,
      signal,
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan' as const,
    };
    while (!signal.aborted) {
      for await (const event of client.watch(Pod, options)) {
        if (event.type !== 'ADDED') continue;
        await complete(event.object).catch((error: unknown) => {
          if (!hasCode(error, 'NotFound')) throw error;
        });
      }
    }
  };
  const running = follow().catch(() => {});
  return {
    seen,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
    },
  };
}
