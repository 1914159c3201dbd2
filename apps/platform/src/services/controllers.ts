/** The essential controllers of all control planes of this process. */

import { EssentialControllers } from '@hangar/controllers';
import { systemClock, systemRandom } from '@hangar/core';
import { LeaderElector, MetricsRegistry } from '@hangar/runtime';
import { insideClients } from './clients.ts';
import { keysOf } from './keys.ts';
import { leaseNamespace } from './service-world.ts';
import type { ServiceWorld } from './service-world.ts';
import type { SupervisedService } from './supervise.ts';

export const controllersService = ({ inside, log, electsLeader, tellMetrics }: ServiceWorld): SupervisedService => ({
  name: 'controllers',
  async run(signal, running) {
    const clients = insideClients(inside, 'controllers');
    const registry = new MetricsRegistry();
    tellMetrics(() => registry.text());
    const world = { clock: systemClock, random: systemRandom, log };
    const work = async (until: AbortSignal): Promise<void> => {
      const controllers = new EssentialControllers({
        ...world,
        registry,
        feed: inside.tenancy.feed(),
        clientOf: (cluster) => clients.of(cluster),
        keysOf: keysOf({ inside, client: clients.root }),
      });
      await controllers.run(until);
    };
    try {
      running();
      if (!electsLeader) return await work(signal);
      const lease = { namespace: leaseNamespace, name: 'hangar-controllers' };
      const elector = new LeaderElector({ ...world, ...lease, client: clients.root, metrics: registry });
      await elector.run(signal, (ownership) => work(ownership.signal));
    } finally {
      await clients.close();
    }
  },
});
