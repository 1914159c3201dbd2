/**
 * A manager of the cluster that a process is started for: its pod's, or the one that the kubeconfig is about.
 *
 *     const manager = await newManager({ leaderElection: { namespace: 'widgets', name: 'widget-operator' } });
 *     manager.controller({ name: 'widget', for: Widget, owns: [Deployment], reconcile });
 *     await manager.run(signals());
 */

import { connect, defaultConfig, RestMetrics } from '@hangar/client';
import type { ClusterConfig, ConnectOptions } from '@hangar/client';
import { MetricsRegistry } from '../metrics/registry.ts';
import { Manager } from './manager.ts';
import type { ManagerOptions } from './manager-options.ts';

export interface NewManagerOptions extends Omit<ManagerOptions, 'client' | 'closesClient' | 'cluster'> {
  /** Absent: `defaultConfig`'s. */
  readonly config?: ClusterConfig;
  /** Of the client: who it says it is, how fast it may ask. */
  readonly connection?: Omit<ConnectOptions, 'metrics'>;
}

/** Rejects with `InvalidKubeconfig`, throws what `Manager` does. The client is closed when the manager has ended. */
export async function newManager({ config, connection, ...options }: NewManagerOptions = {}): Promise<Manager> {
  const { registry = new MetricsRegistry() } = options;
  const metrics = new RestMetrics();
  registry.register(metrics.requests);
  registry.register(metrics.duration);
  const client = connect(config ?? (await defaultConfig()), { ...connection, metrics });
  return new Manager({ ...options, registry, client, closesClient: true });
}
