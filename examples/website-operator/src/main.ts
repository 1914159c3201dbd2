/** The process: one manager, one controller. Any number of it may run: one works, the others wait. */

import { newManager, signals } from '@hangar/runtime';
import { owned, reconcile } from './reconcile.ts';
import { Website } from './website.ts';

const { NAMESPACE: namespace = 'website-operator', HOST: host = '127.0.0.1', PORT: port = '8080' } = process.env;

const manager = await newManager({
  leaderElection: { namespace, name: 'website-operator' },
  metrics: { host, port: Number(port) },
});
manager.controller({ name: 'website', for: Website, owns: owned, reconcile, concurrency: 4 });
await manager.run(signals());
