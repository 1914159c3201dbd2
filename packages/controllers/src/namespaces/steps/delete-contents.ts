/**
 * Deletes the objects of one resource in a namespace, and returns the remaining ones: objects with finalizers, and pods in their grace
 * period. Other remaining objects are a failure.
 */

import type { Client, DiscoveredKind } from '@hangar/client';
import { eachAtOnce, hasCode } from '@hangar/core';
import type { Findings } from './findings.ts';
import { gracefulSeconds } from './pods.ts';

export interface Deleting {
  readonly client: Client;
  readonly namespace: string;
  /** Time of the deletion of the namespace, in seconds. */
  readonly sinceSeconds: number;
  readonly signal: AbortSignal;
}

const pageSize = 500;
const deletedAtOnce = 32;
/** Estimate for finalizers, as in kube-controller-manager. */
const finalizerEstimateSeconds = 15;

const gvrText = ({ group, version, plural }: DiscoveredKind): string => `${group}/${version}, Resource=${plural}`;

export async function deleteContents(deleting: Deleting, kind: DiscoveredKind, findings: Findings): Promise<void> {
  try {
    await deleteAndCount(deleting, kind, findings);
  } catch (error) {
    if (deleting.signal.aborted) throw error;
    // Its definition was deleted meanwhile, including all objects.
    if (hasCode(error, 'NotFound')) return;
    findings.contentProblems.push((error as Error).message);
  }
}

async function deleteAndCount(deleting: Deleting, kind: DiscoveredKind, findings: Findings): Promise<void> {
  if (!kind.verbs.includes('list')) return deleteUnseen(deleting, kind);
  // Most namespaces have no objects of most resources: one request is enough for those.
  const { count: before } = await counted(deleting, kind);
  if (before === 0) return;
  const isPods = kind.group === '' && kind.plural === 'pods';
  const graceSeconds = isPods ? await gracefulSeconds(deleting) : 0;
  await deleteAll(deleting, kind);
  const { count, finalizers } = await counted(deleting, kind);
  if (count === 0) return;
  findings.remains(`${kind.plural}.${kind.group}`, count, finalizers);
  if (graceSeconds > 0) findings.mayTake(graceSeconds);
  else if (finalizers.size > 0) findings.mayTake(finalizerEstimateSeconds);
  else throw new Error(`unexpected items still remain in namespace: ${deleting.namespace} for gvr: ${gvrText(kind)}`);
}

/** A resource without `list` supports only `deletecollection`, if at all. */
async function deleteUnseen({ client, namespace, signal }: Deleting, kind: DiscoveredKind): Promise<void> {
  if (!kind.verbs.includes('deletecollection')) return;
  await client.deleteCollection(kind, { namespace, propagationPolicy: 'Background', signal });
}

async function deleteAll(deleting: Deleting, kind: DiscoveredKind): Promise<void> {
  const { client, namespace, signal } = deleting;
  if (kind.verbs.includes('deletecollection')) {
    try {
      return await client.deleteCollection(kind, { namespace, propagationPolicy: 'Background', signal });
    } catch (error) {
      // Some servers announce the verb but do not support it.
      if (!hasCode(error, 'MethodNotAllowed')) throw error;
    }
  }
  const names: string[] = [];
  for await (const { metadata } of client.metadata.listAll(kind, { namespace, limit: pageSize, signal })) {
    names.push(metadata.name!);
  }
  await eachAtOnce(deletedAtOnce, names, (name) =>
    client.delete(kind, { namespace, name }, { propagationPolicy: 'Background', signal }),
  );
}

interface Counted {
  readonly count: number;
  readonly finalizers: ReadonlyMap<string, number>;
}

async function counted({ client, namespace, signal }: Deleting, kind: DiscoveredKind): Promise<Counted> {
  let count = 0;
  const finalizers = new Map<string, number>();
  for await (const { metadata } of client.metadata.listAll(kind, { namespace, limit: pageSize, signal })) {
    count++;
    for (const name of metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
  }
  return { count, finalizers };
}
