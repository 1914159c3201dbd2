/**
 * The retained data of dedicated control planes: a stopped HostedControlPlane in a management namespace, both without an owner. The
 * namespace holds all of it.
 */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { failed } from '../errors.ts';
import { hangar } from '../hints.ts';
import { HostedControlPlane, Namespace, Secret } from '../kinds.ts';
import type { HostedControlPlaneObject } from '../kinds.ts';
import type { Session } from '../session.ts';
import { quoted } from '../terminal/plain-text.ts';
import { find } from './optional.ts';
import { waitFor } from './wait.ts';

const nameLabel = 'controlplane.kplane.dev/name';
const sinceAnnotation = 'controlplane.kplane.dev/retained-since';

export const retainedSince = ({ metadata }: HostedControlPlaneObject): string | undefined =>
  metadata.annotations?.[sinceAnnotation];

const isRetained = (one: HostedControlPlaneObject): boolean =>
  retainedSince(one) !== undefined && (one.metadata.ownerReferences ?? []).length === 0;

/** Undefined: the server does not serve HostedControlPlanes, or the user may not list them. */
export async function listRetainedDedicated(
  client: Client,
  signal: AbortSignal,
): Promise<readonly HostedControlPlaneObject[] | undefined> {
  try {
    return (await client.list(HostedControlPlane, { labelSelector: nameLabel, signal })).items.filter(isRetained);
  } catch (error) {
    if (hasCode(error, 'NotFound') || hasCode(error, 'Forbidden')) return undefined;
    throw error;
  }
}

export async function findRetainedDedicated(
  client: Client,
  name: string,
  signal: AbortSignal,
): Promise<HostedControlPlaneObject | undefined> {
  return (await listRetainedDedicated(client, signal))?.find(({ metadata }) => metadata.name === name);
}

/**
 * Deletes the namespace, on the condition that no control plane adopts it meanwhile, and waits until it is gone; then deletes the record of
 * the operator, which has no meaning without the namespace.
 */
export async function destroyRetainedDedicated(
  client: Client,
  hosted: HostedControlPlaneObject,
  { session, timeoutMs }: { readonly session: Pick<Session, 'clock' | 'signal'>; readonly timeoutMs: number },
): Promise<void> {
  const { clock, signal } = session;
  const { namespace: name = '', name: plane = '' } = hosted.metadata;
  const there = await find(client, Namespace, name, signal);
  if (there && (there.metadata.ownerReferences ?? []).length > 0) throw inUse(plane);
  if (there && there.metadata.deletionTimestamp === undefined) {
    const { uid, resourceVersion } = there.metadata;
    const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
    try {
      await client.delete(Namespace, { name }, { preconditions, signal });
    } catch (error) {
      if (hasCode(error, 'Conflict')) throw inUse(plane, error);
      if (!hasCode(error, 'NotFound')) throw error;
    }
  }
  const uid = there?.metadata.uid;
  const isGone = await waitFor(client, Namespace, {
    name,
    clock,
    signal,
    timeoutMs,
    isDone: (object) => object?.metadata.uid !== uid || uid === undefined,
  });
  if (!isGone) {
    throw failed(`timed out after ${timeoutMs / 1_000} s: namespace ${quoted(name)} is still being deleted`, {
      next: `to see what it waits for: kubectl get namespace ${name} -o yaml`,
    });
  }
  const record = { namespace: 'kplane-system', name: `retained-${plane}` };
  await client.delete(Secret, record, { signal }).catch((error: unknown) => {
    // Without its namespace, the record has no effect.
    if (!hasCode(error, 'NotFound') && !hasCode(error, 'Forbidden')) throw error;
  });
}

const inUse = (name: string, cause?: unknown) =>
  failed(`the data of control plane ${quoted(name)} was not destroyed: a control plane uses it again`, {
    next: `see: ${hangar('get')}`,
    ...(cause === undefined ? {} : { cause }),
  });
