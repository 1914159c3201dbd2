/** All control planes at once: see wildcard.ts for controllers of this process, server.ts for all others. */

export { Wildcard } from './wildcard.ts';
export type {
  ClusterBatch,
  ClusterEvent,
  ClusterList,
  ClusterObject,
  ClusterWatch,
  ListOptions,
  ReachOptions,
} from './wildcard.ts';
export { WildcardServer } from './server.ts';
