/** Changes of the member list of etcd. */

import { hasCode } from '@hangar/core';
import type { EtcdMaintenance, MemberId } from '@hangar/store/etcd-maintenance';
import { healthyVoters } from '../observation.ts';
import type { Action } from '../plan.ts';
import type { ActionContext } from './index.ts';

/** Through a healthy voter other than the changed member. */
function through({ members, observation }: ActionContext, other?: MemberId): EtcdMaintenance {
  const voter = healthyVoters(observation).find(({ member }) => member!.id !== other);
  const etcd = voter && members.get(voter.pod);
  if (!etcd) throw new Error('no healthy etcd member can be reached');
  return etcd;
}

export async function removeMember(member: MemberId, context: ActionContext): Promise<boolean> {
  await through(context, member).removeMember(member);
  return true;
}

export async function addLearner(peerUrl: string, context: ActionContext): Promise<boolean> {
  await through(context).addLearner(peerUrl);
  return true;
}

export const promote = (member: MemberId, context: ActionContext): Promise<boolean> =>
  through(context, member).promote(member);

export async function moveLeader(
  { from, to }: Extract<Action, { type: 'moveLeader' }>,
  { members }: ActionContext,
): Promise<boolean> {
  try {
    await members.get(from)!.moveLeader(to);
    return true;
  } catch (error) {
    // Another member became the leader.
    if (hasCode(error, 'InvalidRequest')) return false;
    throw error;
  }
}
