/** The manager composes controllers, caches, webhooks, leader election, probes and metrics into a process. Start with `new-manager.ts`. */

export type { HealthCheck } from './health.ts';
export { Manager } from './manager.ts';
export type {
  ManagerAddOptions,
  ClusterSetup,
  ListenOptions,
  ManagerOptions,
  ManagerRunOptions,
  ManagerWorld,
} from './manager-options.ts';
export { newManager } from './new-manager.ts';
export type { NewManagerOptions } from './new-manager.ts';
export type { Runnable, RunnableFunction } from './runnable.ts';
export { signals } from './signals.ts';
