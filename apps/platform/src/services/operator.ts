/** Runs the operator of control planes in this process: its management plane and the host of its tenants are this server. */

import type { Client } from '@hangar/client';
import { controlPlaneOperator, installDefinitions, pathHost, tenantReplica } from '@hangar/controlplane-operator';
import type { DedicatedPlatform, MigrationPlatform } from '@hangar/controlplane-operator';
import { systemClock, systemRandom } from '@hangar/core';
import type { Failpoints } from '@hangar/core';
import { addonChanges } from './addon-changes.ts';
import { insideClients } from './clients.ts';
import { IncidentEvents } from './incident-events.ts';
import { leaseNamespace } from './service-world.ts';
import type { ServiceWorld } from './service-world.ts';
import type { SupervisedService } from './supervise.ts';

export interface OperatorServiceWorld extends ServiceWorld {
  /** Called by every run when the kinds are served. */
  readonly onInstalled: () => void;
  /** Defaults of dedicated control planes. Absent: those of the operator. */
  readonly dedicated?: Partial<DedicatedPlatform> | undefined;
  /** Hosted control planes as the dedicated side of migrations. Absent: control planes cannot be migrated between modes. */
  readonly replicas?: ((management: Client) => Promise<MigrationPlatform['dedicated']>) | undefined;
  /** Of tests. */
  readonly failpoints?: Failpoints | undefined;
}

export const operatorService = ({
  inside,
  log,
  electsLeader,
  tellMetrics,
  onInstalled,
  dedicated,
  replicas,
  failpoints,
}: OperatorServiceWorld): SupervisedService => ({
  name: 'operator',
  async run(signal, running) {
    const clients = insideClients(inside, 'operator');
    const events = new IncidentEvents({ client: clients.root, log });
    try {
      // Newer definitions replace older ones, also before this server leads: they come from the newest server.
      await installDefinitions(clients.root, { signal });
      onInstalled();
      inside.onIncident((incident) => void events.record(incident));
      const host = pathHost({
        transport: clients.transport,
        internalUrl: inside.internalUrl,
        externalUrl: inside.externalUrl,
        servingCa: () => inside.servingCa(),
        changes: (tell, ended) => addonChanges(inside.tenancy.feed(), tell, ended),
      });
      const manager = controlPlaneOperator({
        management: clients.root,
        host,
        dedicated,
        migration: replicas && {
          tenant: (path) => tenantReplica(clients.root, path),
          dedicated: await replicas(clients.root),
        },
        metrics: false,
        health: false,
        clock: systemClock,
        random: systemRandom,
        log,
        failpoints,
        ...(electsLeader ? { leaderElection: { namespace: leaseNamespace, name: 'hangar-operator' } } : {}),
      });
      tellMetrics(() => manager.registry.text());
      running();
      await manager.run(signal);
    } finally {
      await events.close();
      await clients.close();
    }
  },
});
