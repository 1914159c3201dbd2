/** Local volumes of a node with a default StorageClass, as an administrator creates them on a cluster without a provisioner. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Node } from '@hangar/cli/machine';
import type { Client } from '@hangar/client';
import { PersistentVolume } from '@hangar/client/kinds/core-v1';
import { StorageClass } from '@hangar/client/kinds/storage-v1';

const storageClassName = 'local';

export async function createLocalVolumes(client: Client, node: Node, count: number): Promise<void> {
  await client.create(StorageClass, {
    metadata: {
      name: storageClassName,
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const onNode = [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values: [node.name] }];
  for (let number = 0; number < count; number++) {
    const path = join(node.folder, 'volumes', String(number));
    await mkdir(path, { recursive: true });
    await client.create(PersistentVolume, {
      metadata: { name: `local-${number}` },
      spec: {
        capacity: { storage: '8Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName,
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: onNode }] } },
      },
    });
  }
}
