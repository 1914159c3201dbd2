/**
 * A service for projects: keeps a ConfigMap in the control plane of every project. The control planes are engaged when their projects are
 * ready, and given up when the projects are deleted.
 */

import { newManager, signals } from '@hangar/runtime';
import { miloProjects } from '@hangar/runtime/clusters';
import { cache, settingsController } from './settings.ts';

const { HOST: host = '127.0.0.1', PORT: port = '8080', REGION: region = 'local' } = process.env;

const manager = await newManager({
  clusters: (world) => ({
    provider: miloProjects({ ...world, management: world.client, clusterOptions: { cache } }),
  }),
  metrics: { host, port: Number(port) },
});
manager.controller(settingsController({ region }));
await manager.run(signals());
