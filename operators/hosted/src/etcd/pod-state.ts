/** From pods and claims of a StatefulSet to the states that matter to its etcd members. */

import type { PersistentVolumeClaim, Pod } from '@hangar/client/kinds/core-v1';
import { dataLossIn } from './data-loss.ts';
import type { ClaimState, PodState } from './observation.ts';

/** On pods of a StatefulSet: the revision of their template. */
const revisionLabel = 'controller-revision-hash';

/** Messages of the scheduler about a volume that no node can use. */
const volumeUnreachable =
  /volume node affinity|PersistentVolume's node affinity|bound to (?:a )?non-?existent|persistentvolume "[^"]*" not found/;

/** `revision`: of the current template. */
export function podStateOf({ metadata, status }: Pod, revision: string | undefined, nowMs: number): PodState {
  const container = status?.containerStatuses?.find(({ name }) => name === 'etcd');
  const crashed = container?.state?.terminated ?? container?.lastState?.terminated;
  const deletedMs = metadata.deletionTimestamp === undefined ? undefined : Date.parse(metadata.deletionTimestamp);
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const isRunning = container?.state?.running !== undefined;
  return {
    uid: metadata.uid!,
    isReady: status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
    overdueMs: deletedMs === undefined ? undefined : nowMs - deletedMs,
    isCrashing: container?.state?.waiting?.reason === 'CrashLoopBackOff',
    isPending: status?.phase === 'Pending' && container?.state?.running === undefined,
    dataLoss: isRunning ? undefined : dataLossIn(crashed?.message ?? ''),
    isVolumeUnreachable: scheduled?.status === 'False' && volumeUnreachable.test(scheduled.message ?? ''),
    isUpToDate: revision === undefined || metadata.labels?.[revisionLabel] === revision,
  };
}

export const claimStateOf = ({ metadata, status }: PersistentVolumeClaim): ClaimState => ({
  uid: metadata.uid!,
  isLost: status?.phase === 'Lost',
  isTerminating: metadata.deletionTimestamp !== undefined,
});
