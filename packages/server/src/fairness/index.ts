/**
 * Fair queuing: shares the time of one process among control planes, and within each among its flows.
 *
 *   fairness.ts          interface to the server
 *   tenant-fairness.ts   implementation for one control plane
 *   fair-queue.ts        scheduler of the process: runs, queues and rejects requests
 *   tenant-queue.ts      waiting requests of one tenant, by level and flow
 *   backlog.ts           received requests of one tenant that are not handled yet
 *   flow-control/        FlowSchemas and PriorityLevelConfigurations
 */

export { FairQueue } from './fair-queue.ts';
export type { FairQueueOptions } from './fair-queue.ts';
export type { Fairness, Turn } from './fairness.ts';
export { TenantFairness } from './tenant-fairness.ts';
export type { TenantFairnessOptions } from './tenant-fairness.ts';
