/**
 * testing: a process with a manager and all its features, as users write it: it must exit by itself. Prints `running` and the port to
 * standard output.
 *
 *   process.ts aborts     exits after the start
 *   process.ts runs       until a signal
 *   process.ts stubborn   one runnable does not stop
 *   process.ts bare       until a signal, without a port
 *   process.ts remote     exits after the start; uses the cluster of KUBECONFIG
 */

import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock } from '@hangar/core';
import { startTestCluster } from '@hangar/testkit';
import { Manager } from '../manager.ts';
import type { ManagerOptions } from '../manager-options.ts';
import { newManager } from '../new-manager.ts';
import { signals } from '../signals.ts';

const mode = process.argv[2];
const options: ManagerOptions = {
  leaderElection: { namespace: 'default', name: 'test' },
  ...(mode === 'bare' ? { metrics: false, health: false } : { metrics: { port: 0 } }),
  log: new Logger({ level: 'warn', format: 'text', clock: systemClock }),
};
const cluster = mode === 'remote' ? undefined : await startTestCluster();
const manager = cluster ? new Manager({ ...options, client: cluster.client }) : await newManager(options);
const recorder = manager.recorder('test');
manager.controller({
  name: 'maps',
  for: ConfigMap,
  async reconcile(request, { client, cluster: where }) {
    recorder.for(where).normal(await client.get(ConfigMap, request), 'Seen', 'it is there');
    return { requeueAfterMs: 3_600_000 };
  },
});
if (mode === 'stubborn') manager.add({ name: 'stubborn', start: () => new Promise<void>(() => {}) });
const stop = new AbortController();
const endsItself = mode === 'aborts' || mode === 'remote';
const running = manager.run(endsItself ? stop.signal : signals());
await Promise.race([manager.elected, running]);
console.log(`running ${manager.ports[0]}`);
if (mode === 'remote') console.log((await manager.answer('/metrics')).body.match(/rest_client_requests_total.*/)?.[0]);
if (endsItself) stop.abort();
await running;
await cluster?.[Symbol.asyncDispose]();
console.log('ended');
