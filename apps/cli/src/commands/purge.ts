/** `hangar purge PATH`: destroys the data that a deleted control plane left. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Call, Command } from '../command.ts';
import { destroyRetainedDedicated } from '../control-planes/retained-dedicated.ts';
import { findRetained, isOfDedicated } from '../control-planes/retained.ts';
import { CliError, failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import { RetainedTenant } from '../kinds.ts';
import type { HostedControlPlaneObject } from '../kinds.ts';
import { bytesText } from '../terminal/figures.ts';
import { quoted } from '../terminal/plain-text.ts';
import { dedicatedWaitMs, planeTimeoutOption, timeoutMs } from './common/timeout.ts';

export const purge: Command = {
  name: 'purge',
  summary: 'destroy the retained data of a deleted control plane',
  description:
    'The data cannot be recovered, so the command prompts for confirmation; without a terminal it requires --yes. The data of a control plane that exists is not touched, and neither is materialised data, which a kube-apiserver may serve. Of a dedicated control plane, the namespace with its HostedControlPlane and its volumes is deleted.',
  args: [{ name: 'PATH', meaning: 'path of the data, as "hangar get --retained" lists it' }],
  options: [{ name: 'yes', short: 'y', meaning: 'do not ask for confirmation' }, planeTimeoutOption],
  examples: ['purge demo', 'purge demo --yes'],
  isConnected: true,
  run: purgeNow,
};

async function purgeNow({ session, given, client: connected }: Call): Promise<void> {
  const path = given.args[0]!;
  const client = await connected();
  const { signal } = session;
  const retained = await findRetained(client, path, signal);
  if (isOfDedicated(retained)) return purgeDedicated({ session, given, client, retained });
  const { metadata, status } = retained;
  if (status?.isMaterialised) throw materialised(path);
  if (!given.flag('yes')) await insistOnYes(session.ask, path, bytesText(status?.storedBytes));
  const { uid } = metadata;
  try {
    await client.delete(RetainedTenant, { name: path }, { signal, ...(uid ? { preconditions: { uid } } : {}) });
  } catch (error) {
    if (!hasCode(error, 'NotFound') && !hasCode(error, 'Conflict')) throw error;
    throw failed(`the data at path ${quoted(path)} was not destroyed: a control plane uses it again`, {
      next: `see: ${hangar('get')}`,
      cause: error,
    });
  }
  session.out.write(`data at path ${path} destroyed (${bytesText(status?.storedBytes)})\n`);
}

interface PurgeDedicated extends Pick<Call, 'session' | 'given'> {
  readonly client: Client;
  readonly retained: HostedControlPlaneObject;
}

async function purgeDedicated({ session, given, client, retained }: PurgeDedicated): Promise<void> {
  const name = retained.metadata.name!;
  if (!given.flag('yes')) await insistOnYes(session.ask, name, 'a dedicated control plane');
  await destroyRetainedDedicated(client, retained, { session, timeoutMs: timeoutMs(given, dedicatedWaitMs) });
  session.out.write(`data of dedicated control plane ${name} destroyed\n`);
}

const materialised = (path: string): CliError =>
  failed(`the data at path ${quoted(path)} was not destroyed: it is materialised, so a kube-apiserver may serve it`, {
    next: `to destroy it: ${hangar(`create ${path}`)}, then ${hangar(`delete ${path} --destroy`)}`,
  });

async function insistOnYes(ask: Call['session']['ask'], path: string, size: string): Promise<void> {
  if (!ask) {
    throw new CliError(
      'Declined',
      `the data at path ${quoted(path)} was not destroyed: there is no terminal for the confirmation`,
      {
        next: 'to destroy it without confirmation, add --yes',
      },
    );
  }
  const answer = await ask(`The data at path ${path} (${size}) will be destroyed. Type the path to confirm: `);
  if (answer.trim() !== path) throw new CliError('Declined', 'nothing was destroyed');
}
