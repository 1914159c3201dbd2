/**
 * Fair queuing: the time of one process shared out among control planes, and within each among its flows.
 *
 *   fairness.ts          what the server asks
 *   tenant-fairness.ts   one control plane's answers
 *   fair-queue.ts        the process: who goes on, who waits, who is refused
 *   tenant-queue.ts      those of one tenant who wait, by levels and flows
 *   flow-control/        what a control plane's FlowSchemas and PriorityLevelConfigurations say
 */

export { FairQueue } from './fair-queue.ts';
export type { FairQueueOptions } from './fair-queue.ts';
export type { Fairness, Turn } from './fairness.ts';
export { TenantFairness } from './tenant-fairness.ts';
export type { TenantFairnessOptions } from './tenant-fairness.ts';
