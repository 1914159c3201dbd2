/**
 * Phase WorkloadSetup: the objects inside the control plane. An annotation of the kubeconfig Secret has their digest, so that a stable
 * control plane causes no requests.
 */

import { keyOf } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import { pooled } from '@hangar/pki';
import { annotations } from '../../api/index.ts';
import { endpointUrl } from '../../endpoint-url.ts';
import { digestOf } from '../../pki/secrets.ts';
import { adminKubeconfigName } from '../../render/index.ts';
import type { Rendered } from '../../render/index.ts';
import { workloadObjects } from '../../workload/objects.ts';
import { fieldManager, findObject } from '../apply.ts';
import type { Pass, Verdict } from '../pass.ts';

/** Codes of errors that say that the server did not respond. */
const unreachable = ['ConnectionFailed', 'ConnectionLost', 'TimedOut', 'ServiceUnavailable', 'Timeout'];
const credentialDays = 1;

export async function workloadSetup(pass: Pass): Promise<Verdict | undefined> {
  const { plane, authorities, world } = pass;
  if ((pass.apiServer?.available ?? 0) === 0) {
    return { reason: 'WaitingForAPIServer', message: 'no API server is available yet' };
  }
  const all = workloadObjects(plane, { server: endpointUrl(plane.endpoint!), authority: authorities!.ca.trusted });
  const digest = digestOf(all.map(({ object }) => object));
  const key = { namespace: plane.namespace, name: adminKubeconfigName(plane) };
  const secret = await findObject(pass, Secret, key);
  if (!secret || secret.metadata.annotations?.[annotations.workload] === digest) return undefined;
  try {
    await applyInside(pass, all);
  } catch (error) {
    if (pass.signal.aborted) throw error;
    const { message } = asError(error);
    const isAway = unreachable.some((code) => hasCode(error, code));
    return {
      reason: isAway ? 'APIServerUnreachable' : 'WorkloadRejected',
      message: `${isAway ? 'the API server does not respond' : 'the API server rejected an object'}, retrying: ${message}`,
      requeueAfterMs: 5_000,
    };
  }
  const { uid } = secret.metadata;
  const body = { metadata: { uid, annotations: { [annotations.workload]: digest } } };
  await world.writes.make('workload-digest', () =>
    pass.client.patch(Secret, keyOf(secret), { type: 'merge', body }, { signal: pass.signal }),
  );
  return undefined;
}

async function applyInside({ plane, authorities, world, signal }: Pass, all: readonly Rendered[]): Promise<void> {
  const { ca } = authorities!;
  const request = {
    commonName: 'hangar-hosted-operator',
    organizations: ['system:masters'],
    usage: 'client' as const,
    days: credentialDays,
  };
  const credentials = await pooled.issueCertificate(ca, request, world);
  const client = await world.connect({ plane, credentials, authority: ca.trusted });
  try {
    for (const { kind, object } of all) {
      const name = `inside-${object.kind.toLowerCase()}-${object.metadata.name!}`;
      await world.writes.make(name, () => client.apply(kind, object, { fieldManager, force: true, signal }));
    }
  } finally {
    await client.close();
  }
}
