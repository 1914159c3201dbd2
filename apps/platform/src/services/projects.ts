/** Runs the operator of organizations and projects in this process, for the control planes of this server. */

import { installDefinitions, pathHost } from '@hangar/controlplane-operator';
import { orAborted, systemClock, systemRandom } from '@hangar/core';
import { insideClients } from './clients.ts';
import { leaseNamespace } from './service-world.ts';
import type { ServiceWorld } from './service-world.ts';
import type { SupervisedService } from './supervise.ts';

export interface ProjectsServiceWorld extends ServiceWorld {
  /** Resolves when the kinds of control planes are served. */
  readonly installed: Promise<void>;
}

export const projectsService = ({
  inside,
  log,
  electsLeader,
  tellMetrics,
  installed,
}: ProjectsServiceWorld): SupervisedService => ({
  name: 'projects-operator',
  async run(signal, running) {
    // Not needed before the server is ready.
    const { definitions, projectsOperator } = await import('@hangar/projects-operator');
    const clients = insideClients(inside, 'projects-operator');
    try {
      await orAborted(installed, signal);
      await installDefinitions(clients.root, { definitions, signal });
      const host = pathHost({
        transport: clients.transport,
        internalUrl: inside.internalUrl,
        servingCa: () => inside.servingCa(),
      });
      const manager = projectsOperator({
        management: clients.root,
        host,
        clock: systemClock,
        random: systemRandom,
        log,
        ...(electsLeader ? { leaderElection: { namespace: leaseNamespace, name: 'hangar-projects-operator' } } : {}),
      });
      tellMetrics(() => manager.registry.text());
      running();
      await manager.run(signal);
    } finally {
      await clients.close();
    }
  },
});
