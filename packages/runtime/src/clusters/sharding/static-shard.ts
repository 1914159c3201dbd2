/**
 * Static sharding, `--cluster-shard-id` and a label selector: a shard owns the clusters that its selector matches. Processes with the
 * same shard id share them; the shards of one group know of each other, so that a cluster that two selectors match has one owner,
 * and one that none matches is noticed.
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
