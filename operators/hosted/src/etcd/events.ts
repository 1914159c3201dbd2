/** Events of the actions on an etcd cluster. */

import { sizeOf } from '../render/index.ts';
import type { Action } from './plan.ts';

export interface CareEvent {
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

export function eventOf(action: Action): CareEvent {
  const pod = 'pod' in action ? JSON.stringify(action.pod) : '';
  switch (action.type) {
    case 'setMembership': {
      const { phase, pod: joining } = action.membership;
      const of = joining === undefined ? '' : ` of ${JSON.stringify(joining)}`;
      return event('EtcdMembershipChanged', action, `start settings of etcd are ${phase}${of}: ${action.why}`);
    }
    case 'releasePod':
      return event('EtcdPodReleased', action, `Pod ${pod} of the removed etcd member and its volume are deleted`);
    case 'removeMember':
      return event('EtcdMemberRemoved', action, `removed etcd member ${pod} (${action.member}): ${action.why}`);
    case 'addLearner':
      return event('EtcdLearnerAdded', action, `added etcd member ${pod} as a learner`);
    case 'promote':
      return event('EtcdMemberPromoted', action, `etcd member ${pod} has caught up and got its vote`);
    case 'moveLeader':
      return event(
        'EtcdLeaderMoved',
        action,
        `moved the leadership from ${JSON.stringify(action.from)} to ${action.to}`,
      );
    case 'emptyVolume':
      return event('EtcdVolumeEmptied', action, `deleted the volume of etcd member ${pod}, which joins again`);
    case 'restartPod':
      return event('EtcdPodRestarted', action, `restarted Pod ${pod}`);
    case 'deleteClaim':
      return event('EtcdClaimDeleted', action, `deleted the volume of the removed etcd member ${pod}`);
    case 'recoverSpace':
      return event('EtcdSpaceFreed', action, 'removed old revisions, defragmented etcd and disarmed the alarm NOSPACE');
    case 'growVolumes':
      return event('EtcdVolumesGrow', action, `volumes of etcd grow to ${sizeOf(action.sizeBytes)}`);
    case 'defragment':
      return event('EtcdDefragmented', action, `defragmented etcd member ${pod}`);
    case 'clearRequest':
      return event('EtcdRequestCleared', action, 'the requested recovery of etcd is complete, or etcd has a quorum');
  }
}

/** Events with the same action become one, with the first note. */
const event = (reason: string, action: Action, note: string): CareEvent => ({
  reason,
  action: `${action.type}${'pod' in action ? action.pod : ''}`.replaceAll('-', ''),
  note,
});
