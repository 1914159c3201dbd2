/**
 * Creates a manager for the default cluster: the cluster of the pod or of the kubeconfig.
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

/** Options of `newManager`. */
export interface NewManagerOptions extends Omit<ManagerOptions, 'client' | 'closesClient' | 'cluster'> {
  /** Absent: the result of `defaultConfig`. */
  readonly config?: ClusterConfig;
  /** Options of the client, such as its user agent and rate limit. */
  readonly connection?: Omit<ConnectOptions, 'metrics'>;
}

/**
 * Returns a manager for the cluster of the configuration. Rejects with `InvalidKubeconfig`, or with `InvalidOptions` as the constructor
 * of `Manager` does. The manager closes the client when it stops.
 */
export async function newManager({ config, connection, ...options }: NewManagerOptions = {}): Promise<Manager> {
  const { registry = new MetricsRegistry() } = options;
  const metrics = new RestMetrics();
  registry.register(metrics.requests);
  registry.register(metrics.duration);
  const client = connect(config ?? (await defaultConfig()), { ...connection, metrics });
  return new Manager({ ...options, registry, client, closesClient: true });
}
