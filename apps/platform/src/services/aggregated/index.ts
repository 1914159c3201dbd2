/** Runs an aggregated API server in this process, supervised. */

import type { ServiceWorld } from '../service-world.ts';
import type { SupervisedService } from '../supervise.ts';
import { aggregatedServices } from './table.ts';
import type { AggregatedServiceName } from './table.ts';

export const aggregatedService = (name: AggregatedServiceName, world: ServiceWorld): SupervisedService => ({
  name,
  async run(signal, running) {
    const { service } = await aggregatedServices[name].load();
    await service(world).run(signal, running);
  },
});
