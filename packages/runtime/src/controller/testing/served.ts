/** A controller in virtual time whose clusters are servers in this process, behind connections with injected faults. */

import { RestClient } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Logger } from '@hangar/core';
import { faultyTransport, startTestCluster, virtualClock } from '@hangar/testkit';
import type { FaultyTransport, TestCluster, VirtualClock } from '@hangar/testkit';
import type { Cluster, ClusterName } from '../../cluster.ts';
import type { Engagement } from '../../clusters/contract.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import { newCluster } from '../../new-cluster.ts';
import { metricValue } from '../../metrics/testing/metric-value.ts';

/** A server and its cluster for a controller. */
export interface Served {
  readonly server: TestCluster;
  readonly faults: FaultyTransport;
  /** Administrator client that bypasses the faults. */
  readonly client: Client;
  readonly cluster: Cluster;
  /** Aborting it stops the caches of the cluster. */
  readonly caches: AbortController;
}

export interface ServedWorld extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly log: Logger;
  readonly lines: string[];
  readonly metrics: MetricsRegistry;
  /** Creates a server with a running cluster. */
  serve(name: ClusterName): Promise<Served>;
  /** Creates another cluster of the same server, as after a change of its config. */
  serveAgain(served: Served): Served;
  metric(series: string): number | undefined;
}

export function servedWorld(): ServedWorld {
  const clock = virtualClock();
  const lines: string[] = [];
  const log = new Logger({ level: 'debug', format: 'json', clock, write: (line) => void lines.push(line) });
  const metrics = new MetricsRegistry();
  const all: { caches: AbortController; ended: Promise<void> }[] = [];
  const servers: TestCluster[] = [];
  const open = (server: TestCluster, name: ClusterName): Served => {
    const faults = faultyTransport(server.transportOf(), { clock });
    const client = new RestClient(faults, { clock, retry: false });
    const cluster = newCluster({ name, client, clock });
    const caches = new AbortController();
    all.push({ caches, ended: cluster.start(caches.signal) });
    return { server, faults, client: server.client, cluster, caches };
  };
  return {
    clock,
    log,
    lines,
    metrics,
    async serve(name) {
      const server = await startTestCluster({ clock });
      servers.push(server);
      return open(server, name);
    },
    serveAgain: ({ server, cluster }) => open(server, cluster.name),
    metric: (series) => metricValue(metrics, series),
    async [Symbol.asyncDispose]() {
      for (const { caches, ended } of all) {
        caches.abort();
        await clock.run(ended);
      }
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
}

export const isDrained = async (engagement: Engagement, clock: VirtualClock): Promise<boolean> => {
  let isOver = false;
  void engagement.drained().then(() => (isOver = true));
  await clock.settle();
  return isOver;
};
