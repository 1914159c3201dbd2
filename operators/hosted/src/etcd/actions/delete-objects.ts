/** Deletes pods and claims of members. Each call names the UID, so it never deletes an object that replaced the observed one. */

import type { ApiObject, Kind } from '@hangar/client';
import { PersistentVolumeClaim, Pod } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import type { Action } from '../plan.ts';
import type { ActionContext } from './index.ts';

type Of<Type extends Action['type']> = Extract<Action, { type: Type }>;

/** The claim first: it is gone when its pod is gone, and the StatefulSet creates both again. */
export async function emptyVolume({ pod, claim, podUid }: Of<'emptyVolume'>, context: ActionContext): Promise<boolean> {
  await remove(PersistentVolumeClaim, `data-${pod}`, claim, context);
  if (podUid !== undefined) await remove(Pod, pod, podUid, context);
  return true;
}

/** `uid`: of the claim. */
export async function deleteClaim(pod: string, uid: string, context: ActionContext): Promise<boolean> {
  await remove(PersistentVolumeClaim, `data-${pod}`, uid, context);
  return true;
}

export async function restartPod(
  { pod, podUid, isForced }: Of<'restartPod'>,
  context: ActionContext,
): Promise<boolean> {
  await remove(Pod, pod, podUid, context, isForced ? 0 : undefined);
  return true;
}

async function remove<T extends ApiObject>(
  kind: Kind<T>,
  name: string,
  uid: string,
  { client, target: { namespace }, signal }: ActionContext,
  gracePeriodSeconds?: number,
): Promise<void> {
  const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
  try {
    await client.delete(kind, { namespace, name }, { preconditions: { uid }, ...grace, signal });
  } catch (error) {
    // Gone, or replaced.
    if (!hasCode(error, 'NotFound') && !hasCode(error, 'Conflict')) throw error;
  }
}
