/** Writes of objects inside a control plane, as its administrator. */

import { keyOf } from '@hangar/client';
import type { ApiObject, Client, Kind } from '@hangar/client';
import { asError, hasCode } from '@hangar/core';
import { pooled } from '@hangar/pki';
import { labels } from '../api/index.ts';
import type { Rendered } from '../render/index.ts';
import { prunedKinds } from '../workload/objects.ts';
import { fieldManager } from './apply.ts';
import type { Pass } from './pass.ts';

/** Opens a client. Closed by its user. */
export async function insideClient({ plane, authorities, world }: Pass): Promise<Client> {
  const { ca } = authorities!;
  const request = {
    commonName: 'hangar-hosted-operator',
    organizations: ['system:masters'],
    usage: 'client' as const,
    days: 1,
  };
  const credentials = await pooled.issueCertificate(ca, request, world);
  return world.connect({ plane, credentials, authority: ca.trusted });
}

export interface Rejection {
  readonly object: ApiObject;
  readonly error: Error;
}

/**
 * Applies all objects at the same time. Objects do not depend on each other, so a rejected one does not stop the others. Returns the first
 * rejection.
 */
export async function applyInside(
  { world, signal }: Pass,
  client: Client,
  all: readonly Rendered[],
): Promise<Rejection | undefined> {
  const options = { fieldManager, force: true, signal };
  return firstRejection(signal, all, ({ kind, object }) =>
    world.writes.make(writeName(object), () => client.apply(kind, object, options)),
  );
}

/** Deletes the addons of earlier specs. */
export async function pruneInside(
  { world, signal }: Pass,
  client: Client,
  all: readonly Rendered[],
): Promise<Rejection | undefined> {
  const wanted = new Set(all.map(({ object }) => `${object.kind}/${object.metadata.name}`));
  const lists = prunedKinds.map(async (kind) => {
    const { items } = await client.list(kind, { namespace: 'kube-system', labelSelector: labels.addon, signal });
    return items.map((object) => ({ kind, object }));
  });
  const unwanted = (await Promise.all(lists))
    .flat()
    .filter(({ kind, object }) => !wanted.has(`${kind.kind}/${object.metadata.name}`));
  return firstRejection(signal, unwanted, ({ kind, object }) => remove({ world, signal }, client, kind, object));
}

async function remove(
  { world, signal }: Pick<Pass, 'world' | 'signal'>,
  client: Client,
  kind: Kind<ApiObject>,
  object: ApiObject,
): Promise<void> {
  const preconditions = { uid: object.metadata.uid! };
  try {
    await world.writes.make(`inside-delete-${kind.kind.toLowerCase()}`, () =>
      client.delete(kind, keyOf(object), { preconditions, signal }),
    );
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
  }
}

/** Throws what is not a response of the API server to the request, such as an abort. */
async function firstRejection(
  signal: AbortSignal,
  all: readonly Rendered[],
  write: (one: Rendered) => Promise<unknown>,
): Promise<Rejection | undefined> {
  const results = await Promise.allSettled(all.map(write));
  const at = results.findIndex(({ status }) => status === 'rejected');
  if (at === -1) return undefined;
  const { reason } = results[at] as PromiseRejectedResult;
  if (signal.aborted) throw reason;
  return { object: all[at]!.object, error: asError(reason) };
}

/** All objects are applied at the same time. Those of addons share a name, so that tests that end the operator at each write stay short. */
const writeName = ({ kind, metadata }: ApiObject): string =>
  metadata.labels?.[labels.addon] === undefined ? `inside-${kind.toLowerCase()}-${metadata.name}` : 'inside-addon';
