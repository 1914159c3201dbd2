/** `hangar delete NAME`: deletes the control plane; its data is retained or destroyed. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { deletionPolicyOf, isByClass } from '../control-planes/deletion-policy.ts';
import type { DeletionPolicy } from '../control-planes/deletion-policy.ts';
import { find } from '../control-planes/optional.ts';
import { findControlPlane } from '../control-planes/find.ts';
import { missing } from '../control-planes/ready.ts';
import { waitFor } from '../control-planes/wait.ts';
import type { Call, Command } from '../command.ts';
import type { Session } from '../session.ts';
import { CliError, failed } from '../errors.ts';
import { clusterPathOf, ControlPlane, ControlPlaneClass, isDedicated, Tenant } from '../kinds.ts';
import type { ControlPlaneObject, TenantObject } from '../kinds.ts';
import { hangar } from '../hints.ts';
import { quoted } from '../terminal/plain-text.ts';
import { Progress } from '../terminal/progress.ts';
import { removeContext } from './common/merged.ts';
import { dedicatedWaitMs, planeTimeoutOption, timeoutMs } from './common/timeout.ts';

export const deleteCommand: Command = {
  name: 'delete',
  summary: 'delete a control plane, and with --destroy its data',
  description:
    'The data is retained unless the deletion policy is Destroy: a control plane of the same name takes it over. Destroyed data cannot be recovered, so the command prompts for confirmation; without a terminal it requires --yes. The context that "hangar use" added to your kubeconfig is removed.',
  args: [{ name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' }],
  options: [
    { name: 'destroy', meaning: 'destroy its data as well' },
    { name: 'yes', short: 'y', meaning: 'do not ask for confirmation' },
    { name: 'wait', isOn: true, meaning: 'do not wait until the deletion is complete' },
    planeTimeoutOption,
  ],
  examples: ['delete demo', 'delete demo --destroy --yes'],
  isConnected: true,
  run: deleteNow,
};

async function deleteNow({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[0]!;
  // A wrong value is an error before the first request.
  timeoutMs(given);
  const client = await connected();
  const { signal } = session;
  const plane = await findControlPlane(client, name, signal);
  const waitMs = timeoutMs(given, isDedicated(plane) ? dedicatedWaitMs : undefined);
  const { uid } = plane.metadata;
  const policy = given.flag('destroy') ? 'Destroy' : await policyOf(client, plane, signal);
  if (policy !== 'Retain' && !given.flag('yes')) await insistOnYes(session.ask, plane, policy);
  if (given.flag('destroy') && plane.spec?.deletionPolicy !== 'Destroy') {
    const body = { metadata: { uid }, spec: { deletionPolicy: 'Destroy' } };
    await client.patch(ControlPlane, { name }, { type: 'merge', body }, { signal });
  }
  // Only this object: another one with the same name may have been created during the confirmation.
  await client.delete(ControlPlane, { name }, { signal, ...(uid ? { preconditions: { uid } } : {}) });
  if (given.flag('wait')) await untilGone({ session, client, name, uid, waitMs });
  session.out.write(
    `control plane ${name} ${given.flag('wait') ? 'deleted' : 'is being deleted'}, ${fateOf(plane, policy)}\n`,
  );
  await removeContext(session, plane);
}

/** Undefined: unknown. */
type Policy = DeletionPolicy | undefined;

async function policyOf(client: Client, plane: ControlPlaneObject, signal: AbortSignal): Promise<Policy> {
  const name = isByClass(plane) ? plane.spec?.classRef?.name : undefined;
  const planeClass = name === undefined ? undefined : await find(client, ControlPlaneClass, name, signal);
  const tenant = name === undefined || planeClass ? undefined : await tenantIfReadable(client, plane, signal);
  return deletionPolicyOf(plane, planeClass, tenant);
}

/** A user who may delete control planes need not be allowed to read tenants. */
async function tenantIfReadable(
  client: Client,
  plane: ControlPlaneObject,
  signal: AbortSignal,
): Promise<TenantObject | undefined> {
  try {
    return await find(client, Tenant, clusterPathOf(plane), signal);
  } catch (error) {
    if (hasCode(error, 'Forbidden')) return undefined;
    throw error;
  }
}

function fateOf(plane: ControlPlaneObject, policy: Policy): string {
  if (policy === 'Destroy') return 'including all data';
  if (policy === 'Retain') {
    const again = `create ${plane.metadata.name}${isDedicated(plane) ? ' --mode dedicated' : ''}`;
    return `data retained; to use it again: ${hangar(again)}`;
  }
  return `data retained or destroyed: unknown, because ${classGone(plane)}`;
}

const classGone = ({ spec }: ControlPlaneObject): string =>
  `its class ${quoted(spec?.classRef?.name ?? '')} does not exist`;

async function insistOnYes(ask: Session['ask'], plane: ControlPlaneObject, policy: Policy): Promise<void> {
  const { name } = plane.metadata;
  const what =
    policy === 'Destroy'
      ? `Everything in control plane ${name} will be destroyed.`
      : `Everything in control plane ${name} may be destroyed, because ${classGone(plane)}.`;
  if (!ask) {
    throw new CliError(
      'Declined',
      `control plane ${quoted(name!)} was not deleted: its data ${policy === 'Destroy' ? 'would' : 'might'} be destroyed, and there is no terminal for the confirmation`,
      {
        next: 'to destroy it without confirmation, add --yes',
      },
    );
  }
  const answer = await ask(`${what} Type its name to confirm: `);
  if (answer.trim() !== name) throw new CliError('Declined', 'nothing was deleted');
}

interface Going extends Pick<Call, 'session'> {
  readonly client: Client;
  readonly name: string;
  readonly uid: string | undefined;
  readonly waitMs: number;
}

async function untilGone({ session, client, name, uid, waitMs }: Going): Promise<void> {
  const { clock, signal, err } = session;
  const progress = new Progress(err, clock);
  let last: ControlPlaneObject | undefined;
  try {
    progress.say(`waiting until control plane ${name} is deleted`);
    const isGone = await waitFor(client, ControlPlane, {
      name,
      clock,
      signal,
      timeoutMs: waitMs,
      onBroken: () => progress.say('the server does not answer, retrying'),
      isDone: (object) => (last = object)?.metadata.uid !== uid,
    });
    if (isGone) return;
    throw failed(
      `timed out after ${waitMs / 1_000} s waiting for the deletion of control plane ${name}: ${whatHolds(last)}`,
      {
        next: `see: ${hangar(`describe ${name}`)}`,
      },
    );
  } finally {
    progress.end();
  }
}

function whatHolds(plane: ControlPlaneObject | undefined): string {
  const finalizers = plane?.metadata.finalizers ?? [];
  return finalizers.length > 0 ? `waiting for ${finalizers.join(', ')}` : missing(plane);
}
