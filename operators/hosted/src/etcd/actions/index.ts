/** Runs the actions that `plan.ts` decides on. Every action is safe to repeat: it names the exact object or member that it changes. */

import type { Client } from '@hangar/client';
import type { Clock } from '@hangar/core';
import type { EtcdMaintenance } from '@hangar/store/etcd-maintenance';
import type { EtcdObservation } from '../observation.ts';
import type { Action } from '../plan.ts';
import type { EtcdTarget } from '../session.ts';
import { clearRequest } from './clear-request.ts';
import { deleteClaim, emptyVolume, restartPod } from './delete-objects.ts';
import { addLearner, moveLeader, promote, removeMember } from './change-members.ts';
import { setMembership } from './set-membership.ts';
import { defragment, freeSpace, growVolumes } from './space.ts';

export interface ActionContext {
  readonly target: EtcdTarget;
  readonly observation: EtcdObservation;
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Open connections, by pod. */
  readonly members: ReadonlyMap<string, EtcdMaintenance>;
}

/** Returns false if the action had no effect yet. */
export async function runAction(action: Action, context: ActionContext): Promise<boolean> {
  switch (action.type) {
    case 'setMembership':
      return setMembership(action.membership, context);
    case 'releasePod': {
      // A claim that stays after a crash is deleted before the next member of this name.
      const isSet = await setMembership(action.membership, context);
      return isSet && (action.claim === undefined || (await deleteClaim(action.pod, action.claim, context)));
    }
    case 'removeMember':
      return removeMember(action.member, context);
    case 'addLearner':
      return addLearner(action.peerUrl, context);
    case 'promote':
      return promote(action.member, context);
    case 'moveLeader':
      return moveLeader(action, context);
    case 'emptyVolume':
      return emptyVolume(action, context);
    case 'restartPod':
      return restartPod(action, context);
    case 'deleteClaim':
      return deleteClaim(action.pod, action.claim, context);
    case 'clearRequest':
      return clearRequest(context);
    case 'recoverSpace':
      return freeSpace(context);
    case 'growVolumes':
      return growVolumes(action.sizeBytes, context);
    case 'defragment':
      return defragment(action.pod, context);
  }
}
