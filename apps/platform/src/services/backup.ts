/** Runs the operator of backups in this process, for the control planes of this server. */

import { mkdir } from 'node:fs/promises';
import type { BackupTarget } from '@hangar/backup-operator';
import type { Client } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { installDefinitions } from '@hangar/controlplane-operator';
import { hasCode, systemClock, systemRandom } from '@hangar/core';
import type { BackupOptions } from '../options/backup.ts';
import { insideClients } from './clients.ts';
import { leaseNamespace } from './service-world.ts';
import type { ServiceWorld } from './service-world.ts';
import type { SupervisedService } from './supervise.ts';

export interface BackupServiceWorld extends ServiceWorld {
  readonly options: BackupOptions;
  /** Returns targets besides the control planes of this server. `management` is closed after the service stopped. */
  readonly targets?: ((management: Client) => Promise<readonly BackupTarget[]>) | undefined;
}

export const backupService = (world: BackupServiceWorld): SupervisedService => ({
  name: 'backup-operator',
  async run(signal, running) {
    const { inside, log, electsLeader, tellMetrics, options, targets } = world;
    // Not needed before the server is ready.
    const [{ backupOperator, definitions }, { controlPlaneTarget }] = await Promise.all([
      import('@hangar/backup-operator'),
      import('@hangar/controlplane-operator/backup'),
    ]);
    const clients = insideClients(inside, 'backup-operator');
    try {
      if (options.createsFolder) await mkdir(options.folder, { recursive: true, mode: 0o700 });
      await installDefinitions(clients.root, { definitions, signal });
      await ensureNamespace(clients.root, options.namespace, signal);
      const others = (await targets?.(clients.root)) ?? [];
      const hosted = others.find(({ kind }) => kind === 'HostedControlPlane');
      const manager = backupOperator({
        management: clients.root,
        targets: [controlPlaneTarget({ management: clients.root, host: clients.root, hosted }), ...others],
        folder: options.folder,
        platformNamespace: options.namespace,
        concurrency: options.concurrency,
        clock: systemClock,
        random: systemRandom,
        log,
        ...(electsLeader ? { leaderElection: { namespace: leaseNamespace, name: 'hangar-backup-operator' } } : {}),
      });
      tellMetrics(() => manager.registry.text());
      running();
      await manager.run(signal);
    } finally {
      await clients.close();
    }
  },
});

async function ensureNamespace(client: Client, name: string, signal: AbortSignal): Promise<void> {
  await client.create(Namespace, { metadata: { name } }, { signal }).catch((error: unknown) => {
    if (!hasCode(error, 'AlreadyExists')) throw error;
  });
}
