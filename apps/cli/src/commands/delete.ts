/** `hangar delete NAME`: the control plane goes; its data stays, or goes with it. */

import type { Client } from '@hangar/client';
import { find } from '../control-planes/optional.ts';
import { findControlPlane } from '../control-planes/find.ts';
import { missing } from '../control-planes/ready.ts';
import { waitFor } from '../control-planes/wait.ts';
import type { Call, Command } from '../command.ts';
import { CliError, failed } from '../errors.ts';
import { ControlPlane, ControlPlaneClass } from '../kinds.ts';
import type { ControlPlaneObject } from '../kinds.ts';
import { Progress } from '../terminal/progress.ts';
import { timeoutMs, timeoutOption } from './common/timeout.ts';

export const deleteCommand: Command = {
  name: 'delete',
  summary: 'delete a control plane, and with --destroy all that is in it',
  description:
    'Its data stays as long as nobody destroys it: a control plane of the same name takes it over. What is destroyed is gone, so on a terminal you are asked first.',
  args: [{ name: 'NAME', meaning: 'of the control plane', completes: 'control-plane' }],
  options: [
    { name: 'destroy', meaning: 'destroy its data, too' },
    { name: 'yes', short: 'y', meaning: 'do not ask' },
    { name: 'wait', isOn: true, meaning: 'do not wait until it is gone' },
    timeoutOption,
  ],
  examples: ['delete demo', 'delete demo --destroy --yes'],
  isConnected: true,
  run: deleteNow,
};

async function deleteNow({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[0]!;
  const waitMs = timeoutMs(given);
  const client = await connected();
  const { signal } = session;
  const plane = await findControlPlane(client, name, signal);
  const { uid } = plane.metadata;
  const isDestroyed = given.flag('destroy') || (await policyOf(client, plane, signal)) === 'Destroy';
  if (isDestroyed && !given.flag('yes') && session.ask) await insistOnYes(session.ask, name);
  if (given.flag('destroy') && plane.spec?.deletionPolicy !== 'Destroy') {
    const body = { metadata: { uid }, spec: { deletionPolicy: 'Destroy' } };
    await client.patch(ControlPlane, { name }, { type: 'merge', body }, { signal });
  }
  // This one: somebody may have made another of the name while the question stood.
  await client.delete(ControlPlane, { name }, { signal, ...(uid ? { preconditions: { uid } } : {}) });
  if (given.flag('wait')) await untilGone({ session, client, name, uid, waitMs });
  const fate = isDestroyed ? 'and all that was in it' : `its data stays: hangar create ${name} takes it over`;
  session.out.write(`control plane ${name} ${given.flag('wait') ? 'is deleted' : 'is being deleted'}; ${fate}\n`);
}

/** As the operator has it: its own, its class's, Retain. */
async function policyOf(client: Client, { spec }: ControlPlaneObject, signal: AbortSignal): Promise<string> {
  if (spec?.deletionPolicy) return spec.deletionPolicy;
  const name = spec?.classRef?.name;
  const planeClass = name === undefined ? undefined : await find(client, ControlPlaneClass, name, signal);
  return planeClass?.spec?.deletionPolicy ?? 'Retain';
}

async function insistOnYes(ask: (question: string) => Promise<string>, name: string): Promise<void> {
  const answer = await ask(`Everything in control plane ${name} will be destroyed. Type its name to go on: `);
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
    progress.say(`waiting until control plane ${name} is gone`);
    const isGone = await waitFor(client, ControlPlane, {
      name,
      clock,
      signal,
      timeoutMs: waitMs,
      onBroken: () => progress.say('the server does not answer, trying again'),
      isDone: (object) => (last = object)?.metadata.uid !== uid,
    });
    if (isGone) return;
    throw failed(`control plane ${name} is not gone after ${waitMs / 1_000} s: ${whatHolds(last)}`, {
      next: `see: hangar describe ${name}`,
    });
  } finally {
    progress.end();
  }
}

function whatHolds(plane: ControlPlaneObject | undefined): string {
  const finalizers = plane?.metadata.finalizers ?? [];
  return finalizers.length > 0 ? `waiting for ${finalizers.join(', ')}` : missing(plane);
}
