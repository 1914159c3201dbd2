/** Upgrades a HostedControlPlane by one minor version while a client reads and writes, and checks the order of the roll-out. */

import assert from 'node:assert/strict';
import type { Client, ObjectKey } from '@hangar/client';
import { Pod } from '@hangar/client/kinds/core-v1';
import { isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane } from '../../../operators/hosted/src/api/index.ts';
import { until } from '../../process-runtime/testing/until.ts';
import type { PodHistory } from './pod-history.ts';
import type { SteadyClient } from './steady-client.ts';
import { newerVersion, versionedComponents } from './versions.ts';

export interface Upgrade {
  /** Of the management cluster. */
  readonly client: Client;
  /** Of the HostedControlPlane, which has the older version. */
  readonly key: ObjectKey & { readonly namespace: string };
  readonly steady: SteadyClient;
  /** Started before the control plane was created. */
  readonly history: PodHistory;
}

/** Three API servers and three members of etcd are replaced, and each of them fails at most a few attempts of the client. */
const retriesMax = 20;

/** Resolves when the control plane is Ready with the newer version. Returns the number of retries of the client. */
export async function upgradeWithClient({ client, key, steady, history }: Upgrade): Promise<number> {
  const operations = await steady.during(async () => {
    const body = { spec: { version: newerVersion } };
    const { metadata } = await client.patch(HostedControlPlane, key, { type: 'merge', body });
    await until(`version ${newerVersion} is complete`, async () => {
      const { status } = await client.get(HostedControlPlane, key);
      if (status?.version !== newerVersion || !isConditionTrue(status.conditions, 'Ready')) return false;
      assert.equal(isConditionTrue(status.conditions, 'RollingOut'), false);
      await checkImages(client, key.namespace);
      return status.observedGeneration === metadata.generation;
    });
  });
  assert.ok(operations.length > 0, 'operations during the upgrade');
  // Controllers start with a version when all API servers have it, and at most one member of etcd restarts at a time.
  assert.deepEqual(history.controllersAhead(), []);
  assert.equal(history.disruptedMax('etcd'), 1);
  const retries = operations.flatMap(({ failures }) => failures);
  assert.ok(retries.length <= retriesMax, `retries during the upgrade:\n${retries.join('\n')}`);
  return retries.length;
}

async function checkImages(client: Client, namespace: string): Promise<void> {
  for (const component of versionedComponents) {
    const labelSelector = { 'app.kubernetes.io/component': component };
    const { items } = await client.list(Pod, { namespace, labelSelector });
    const current = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const { spec } of current) assert.ok(spec!.containers[0]!.image!.endsWith(`:${newerVersion}`));
  }
}
