/**
 * Static sharding, `--cluster-shard-id` and a label selector: a shard owns the clusters that its selector matches. Processes with the same
 * shard id share them. The shards of one group observe each other, so that a cluster with two matching selectors has one owner, and a
 * cluster with none is detected.
 */

import { ShardCoordinator } from './shard-coordinator.ts';
import type { ShardCoordinatorOptions } from './shard-coordinator.ts';

export interface StaticShardOptions extends Omit<ShardCoordinatorOptions, 'shard'> {
  readonly shardId: string;
  /** Label selector in the syntax of `kubectl -l`. Absent: `hangar.dev/shard=<shardId>`. */
  readonly selector?: string;
}

export const shardLabel = 'hangar.dev/shard';

/** A coordinator of the clusters that a label selector matches. */
export class StaticShard extends ShardCoordinator {
  constructor({ shardId, selector = `${shardLabel}=${shardId}`, ...options }: StaticShardOptions) {
    super({ ...options, shard: { id: shardId, selector } });
  }
}
