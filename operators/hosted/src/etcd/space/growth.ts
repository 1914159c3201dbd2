/**
 * Decides when the volumes of etcd grow. Only data that is in use counts: a defragmentation returns the rest. A volume must have room for the
 * database, for its copy during a defragmentation, and for the log.
 */

import { etcdLogBytes } from '../../render/index.ts';
import { gibibyte } from './member-space.ts';
import type { MemberSpace } from './member-space.ts';

/** Part of the quota that is in use when volumes grow. */
const quotaShareMax = 0.7;
/** Part of the volume that is necessary when it grows. */
const volumeShareMax = 0.8;
const factor = 1.5;

export interface GrowthInputs {
  readonly members: readonly MemberSpace[];
  /** Requested size of the volumes. */
  readonly sizeBytes: number;
  /** Smallest capacity of the volumes. */
  readonly capacityBytes: number;
  /** spec.etcd.volumeSizeMax. */
  readonly sizeMaxBytes: number;
  /** Whether the quota derives from the size of the volume. */
  readonly hasDerivedQuota: boolean;
}

export type GrowthDecision =
  | { readonly type: 'none' }
  | { readonly type: 'grow'; readonly sizeBytes: number }
  /** The volumes are nearly full, and have the largest size. */
  | { readonly type: 'atMaximum' };

export function nextVolumeSize(inputs: GrowthInputs): GrowthDecision {
  const { members, sizeBytes, capacityBytes, sizeMaxBytes } = inputs;
  // The previous growth is not complete.
  if (capacityBytes < sizeBytes || !members.some((one) => isNearlyFull(one, inputs))) return { type: 'none' };
  const wanted = Math.min(Math.ceil((sizeBytes * factor) / gibibyte) * gibibyte, sizeMaxBytes);
  return wanted > sizeBytes ? { type: 'grow', sizeBytes: wanted } : { type: 'atMaximum' };
}

function isNearlyFull({ dbSizeInUseBytes, quotaBytes }: MemberSpace, inputs: GrowthInputs): boolean {
  const { hasDerivedQuota, capacityBytes } = inputs;
  if (hasDerivedQuota && dbSizeInUseBytes >= quotaShareMax * quotaBytes) return true;
  return 2 * dbSizeInUseBytes + etcdLogBytes(capacityBytes) >= volumeShareMax * capacityBytes;
}
