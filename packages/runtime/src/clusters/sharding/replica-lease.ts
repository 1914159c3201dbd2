/** The part of the Lease of a replica from which other processes detect whether the replica runs. */

import { groupLabel, peerLeasePrefix, recordAnnotation } from './leases.ts';
import type { Lease } from './leases.ts';
import { decodeRecord } from './peer-record.ts';

export interface ReplicaLease {
  readonly namespace: string;
  readonly group: string;
  /** Static shard of the replica; undefined: the replica may serve any cluster. */
  readonly shard: string | undefined;
  /** True when the replica left or was declared dead. */
  readonly isGone: boolean;
  /** Time without a renewal after which the replica is considered dead. */
  readonly leaseMs: number;
}

/** Returns undefined for other Leases. A record that cannot be decoded counts as a replica that runs until its Lease expires. */
export function replicaLeaseOf({ metadata, spec }: Lease): ReplicaLease | undefined {
  const { namespace = '', name = '', labels, annotations } = metadata;
  const group = labels?.[groupLabel];
  if (group === undefined || !name.startsWith(peerLeasePrefix(group))) return undefined;
  const record = decodeRecord(annotations?.[recordAnnotation], name.slice(peerLeasePrefix(group).length));
  const durationMs = (spec?.leaseDurationSeconds ?? 0) * 1_000;
  return {
    namespace,
    group,
    shard: record?.shard,
    isGone: record?.state === 'gone',
    leaseMs: Math.max(record?.leaseMs ?? 0, durationMs),
  };
}
