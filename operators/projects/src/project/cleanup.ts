/**
 * Deletes a project, in this order: objects in namespaces, namespaces, the control plane, the finalizer. The condition ResourceCleanup
 * names the objects that block the current step. Nothing watches the content of the control plane: the passes are repeated, with a growing
 * delay.
 */

import { ControlPlane } from '@hangar/controlplane-operator';
import { asError, hasCode } from '@hangar/core';
import {
  dropFinalizer,
  findCondition,
  hasFinalizer,
  isBeingDeleted,
  setConditions,
  writeStatus,
} from '@hangar/runtime';
import type { Result } from '@hangar/runtime';
import { finalizer, Project } from '../api/index.ts';
import { existingControlPlane } from './control-plane.ts';
import { drain } from './drain.ts';
import type { ProjectPass } from './world.ts';

const pollMsMin = 250;
const pollMsMax = 15_000;
const messageMax = 4_000;

export async function cleanUp(pass: ProjectPass): Promise<Result | void> {
  const { project, client, world, signal } = pass;
  if (!hasFinalizer(project, finalizer)) return;
  const controlPlane = await existingControlPlane(pass);
  if (controlPlane) {
    const { reason, message } = await removed(pass, controlPlane);
    await report(pass, reason, message);
    return { requeueAfterMs: pollMs(pass) };
  }
  await dropFinalizer(client, Project, project, finalizer, { signal });
  world.admissions.forget(project.metadata.uid!);
}

interface Progress {
  readonly reason: string;
  readonly message: string;
}

/** Makes one pass. The control plane exists. */
async function removed(pass: ProjectPass, controlPlane: ControlPlane): Promise<Progress> {
  const { client, signal } = pass;
  const name = controlPlane.metadata.name!;
  if (isBeingDeleted(controlPlane)) {
    const detail = findCondition(controlPlane.status?.conditions, 'Ready')?.message ?? '';
    return {
      reason: 'DeletingControlPlane',
      message: `waiting for the deletion of ControlPlane "${name}"${detail === '' ? '' : `: ${detail}`}`,
    };
  }
  const remaining = await drained(pass, controlPlane);
  if (remaining) return remaining;
  const preconditions = { uid: controlPlane.metadata.uid! };
  await client.delete(ControlPlane, { name }, { preconditions, signal });
  return { reason: 'DeletingControlPlane', message: `waiting for the deletion of ControlPlane "${name}"` };
}

/** A control plane that was never ready has no content of users. */
async function drained(pass: ProjectPass, controlPlane: ControlPlane): Promise<Progress | undefined> {
  const { project, world, signal } = pass;
  if (project.status?.controlPlaneRef?.uid !== controlPlane.metadata.uid) return undefined;
  try {
    const client = await world.access.enter(controlPlane, signal);
    try {
      const remaining = await drain({ client, clock: world.clock, signal });
      return remaining && { reason: remaining.stage, message: remaining.message };
    } finally {
      await client.close();
    }
  } catch (error) {
    if (signal.aborted || hasCode(error, 'Aborted')) throw error;
    const name = controlPlane.metadata.name!;
    const message = `the content of ControlPlane "${name}" cannot be deleted, retrying: ${asError(error).message}; delete the ControlPlane to skip this step`;
    return { reason: 'CleanupFailed', message };
  }
}

async function report({ project, client, world, signal }: ProjectPass, reason: string, text: string): Promise<void> {
  const observedGeneration = project.metadata.generation ?? 0;
  const message = text.slice(0, messageMax);
  const conditions = setConditions(
    project.status?.conditions,
    [
      {
        type: 'Ready',
        status: false,
        reason: 'Terminating',
        message: 'the project is being deleted',
        observedGeneration,
      },
      { type: 'ResourceCleanup', status: false, reason, message, observedGeneration },
    ],
    world.clock,
  );
  const status = { ...project.status, observedGeneration, conditions };
  await writeStatus(client, { kind: Project, object: project, status, signal });
}

/** A quarter of the time since the deletion began. */
function pollMs({ project, world }: ProjectPass): number {
  const sinceMs = world.clock.now() - Date.parse(project.metadata.deletionTimestamp!);
  return Math.min(pollMsMax, Math.max(pollMsMin, sinceMs / 4));
}
