/** `hangar etcd recover NAME`: requests the recovery of an etcd without a quorum. The operator executes it, with the rights of Kubernetes. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Call } from '../../command.ts';
import { waitFor } from '../../control-planes/wait.ts';
import { CliError, failed, usage } from '../../errors.ts';
import { hangar } from '../../hints.ts';
import { findHosted, fullName } from '../../hosted/find.ts';
import { survivorOf } from '../../hosted/survivor.ts';
import { conditionOf, ControlPlaneRestore, HostedControlPlane } from '../../kinds.ts';
import type { HostedControlPlaneObject } from '../../kinds.ts';
import { plain, quoted } from '../../terminal/plain-text.ts';
import { stylesOf } from '../../terminal/styles.ts';
import { timeoutMs } from '../common/timeout.ts';
import { memberTable } from './members.ts';

/** The annotation of the request. The operator removes it when etcd has a quorum. */
const requestAnnotation = 'hosted.hangar.dev/recover-etcd-from';
const defaultTimeoutMs = 600_000;

export async function recoverEtcd(call: Call): Promise<void> {
  const { session, given } = call;
  const [, name = ''] = given.args;
  const [member, backup] = [given.text('member'), given.text('backup')];
  if (member !== undefined && backup !== undefined) throw usage('--member and --backup are mutually exclusive');
  const client = await call.client();
  const plane = await findHosted(client, name, { namespace: given.text('namespace'), signal: session.signal });
  insistOnQuorumLoss(plane);
  session.err.write(memberTable(plane.status?.etcdMembers ?? [], stylesOf(session.err, session.env)));
  if (backup !== undefined) return restoreBackup(call, client, plane, backup);
  const { survivor, newer } = survivorOf(plane.status?.etcdMembers ?? [], member);
  session.err.write(`Member ${survivor.name} becomes the only member, with revision ${survivor.revision}.\n`);
  session.err.write('Writes that it does not have are lost, and the data of the other members is deleted.\n');
  if (newer) session.err.write(`Member ${newer.name} has the newer revision ${newer.revision}.\n`);
  await confirm(call, plane, `the recovery from ${survivor.name}`);
  await request(client, plane, survivor.name, session.signal);
  await untilRecovered(call, client, plane);
  session.out.write(`etcd of ${fullName(plane)} recovered from ${survivor.name}; the other members join again\n`);
}

/** Nothing is changed while a quorum exists: it has every acknowledged write. */
function insistOnQuorumLoss(plane: HostedControlPlaneObject): void {
  const { reason, message = '' } = conditionOf(plane, 'EtcdClusterReady') ?? {};
  if (reason === 'QuorumLost') return;
  const state =
    reason === undefined ? 'it has not been observed yet' : `${reason}${message ? `: ${plain(message)}` : ''}`;
  const { name, namespace } = plane.metadata;
  throw failed(`etcd of ${fullName(plane)} has not lost its quorum: ${state}`, {
    next: `see its members: ${hangar(`etcd members ${name} -n ${namespace}`)}`,
  });
}

async function confirm({ session, given }: Call, plane: HostedControlPlaneObject, what: string): Promise<void> {
  const name = plane.metadata.name!;
  const confirmed = given.text('confirm');
  if (confirmed === name) return;
  if (confirmed !== undefined) throw usage(`--confirm must be ${quoted(name)}, not ${quoted(confirmed)}`);
  if (!session.ask) {
    throw new CliError('Declined', 'nothing was changed: there is no terminal for the confirmation', {
      next: `to request ${what} without confirmation, add --confirm ${name}`,
    });
  }
  const answer = await session.ask(`Type the name of the control plane to confirm ${what}: `);
  if (answer.trim() !== name) throw new CliError('Declined', 'nothing was changed');
}

async function request(
  client: Client,
  { metadata }: HostedControlPlaneObject,
  member: string,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '', uid } = metadata;
  const body = { metadata: { uid, annotations: { [requestAnnotation]: member } } };
  await client.patch(HostedControlPlane, { namespace, name }, { type: 'merge', body }, { signal });
}

async function untilRecovered(
  { session, given }: Call,
  client: Client,
  plane: HostedControlPlaneObject,
): Promise<void> {
  const { namespace, name = '', uid } = plane.metadata;
  const limitMs = timeoutMs(given, defaultTimeoutMs);
  let said = '';
  const isDone = (one: HostedControlPlaneObject | undefined): boolean => {
    if (!one || one.metadata.uid !== uid) throw failed(`${fullName(plane)} was deleted`);
    const { reason, message = '' } = conditionOf(one, 'EtcdClusterReady') ?? {};
    const text = `${reason}: ${plain(message)}`;
    if (text !== said) session.err.write(`${text}\n`);
    said = text;
    return one.metadata.annotations?.[requestAnnotation] === undefined;
  };
  const { clock, signal } = session;
  if (await waitFor(client, HostedControlPlane, { namespace, name, isDone, clock, timeoutMs: limitMs, signal })) return;
  throw failed(`etcd of ${fullName(plane)} has no quorum after ${limitMs / 1_000} s: ${said}`, {
    next: `the request stays; to cancel it: kubectl annotate hostedcontrolplane ${name} -n ${namespace} ${requestAnnotation}-`,
  });
}

async function restoreBackup(
  call: Call,
  client: Client,
  plane: HostedControlPlaneObject,
  backupName: string,
): Promise<void> {
  const { session } = call;
  const { namespace = '', name = '' } = plane.metadata;
  session.err.write(`All data of ${fullName(plane)} is replaced by that of backup ${backupName}.\n`);
  await confirm(call, plane, `the restore of ${backupName}`);
  const restore = {
    metadata: { namespace, name: `${name}-recover-${session.clock.now().toString(36)}` },
    spec: {
      source: { backupName },
      controlPlaneRef: { kind: 'HostedControlPlane', name },
      mode: 'InPlace' as const,
      confirmation: name,
    },
  };
  try {
    await client.create(ControlPlaneRestore, restore, { signal: session.signal });
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    throw failed('the server does not serve ControlPlaneRestores', {
      next: 'install the operator of backups',
      cause: error,
    });
  }
  const see = `kubectl get controlplanerestore ${restore.metadata.name} -n ${namespace}`;
  session.out.write(`ControlPlaneRestore ${namespace}/${restore.metadata.name} created; see: ${see}\n`);
}
