/** Runs the operator of hosted control planes in this process, on the management plane. */

import { definitions as backupDefinitions } from '@hangar/backup-operator';
import { installDefinitions } from '@hangar/controlplane-operator';
import { orAborted, systemClock, systemRandom } from '@hangar/core';
import { definitions, hostedOperator, servedApis } from '@hangar/hosted-operator';
import type { FrontDoorSettings } from '@hangar/hosted-operator';
import { insideClients } from '../clients.ts';
import { leaseNamespace } from '../service-world.ts';
import type { ServiceWorld } from '../service-world.ts';
import type { SupervisedService } from '../supervise.ts';

export interface HostedOperatorWorld extends ServiceWorld {
  /** Resolves when pods can be scheduled. */
  readonly nodeReady: Promise<void>;
  /** Called by every run when the kinds are served. */
  readonly onInstalled: () => void;
  readonly frontDoor?: FrontDoorSettings | undefined;
  /** Whether this server makes backups. */
  readonly hasBackups?: boolean | undefined;
}

export const hostedOperatorService = (world: HostedOperatorWorld): SupervisedService => ({
  name: 'hosted-operator',
  async run(signal, running) {
    const { inside, log, electsLeader, tellMetrics, nodeReady, onInstalled, frontDoor, hasBackups } = world;
    const clients = insideClients(inside, 'hosted-operator');
    try {
      await installDefinitions(clients.root, { definitions, signal });
      // The operator of backups installs them as well, and can start later.
      if (hasBackups) await installDefinitions(clients.root, { definitions: backupDefinitions, signal });
      onInstalled();
      await orAborted(nodeReady, signal);
      const manager = hostedOperator({
        ...(await servedApis(clients.root, { signal })),
        management: clients.root,
        ...(hasBackups ? { backups: true } : {}),
        // The runtime forwards node ports on 127.0.0.1. Addresses of Services are not reachable from this process by their names.
        serviceType: 'NodePort',
        reach: 'endpoint',
        frontDoor,
        clock: systemClock,
        random: systemRandom,
        log,
        ...(electsLeader ? { leaderElection: { namespace: leaseNamespace, name: 'hangar-hosted-operator' } } : {}),
      });
      tellMetrics(() => manager.registry.text());
      running();
      await manager.run(signal);
    } finally {
      await clients.close();
    }
  },
});
