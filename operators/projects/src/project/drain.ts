/**
 * Deletes the content of the control plane of a project: first the objects in namespaces, then the namespaces. Controllers that are
 * responsible for finalizers of the objects still have a working control plane while they clean up.
 *
 * One call makes one pass with a limited number of requests, and returns the objects that remain.
 */

import { asMetadata, KindMapper } from '@hangar/client';
import type { ApiObject, Client, DiscoveredKind } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { eachAtOnce, hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Blockers } from './blockers.ts';

export type DrainStage = 'DeletingResources' | 'DeletingNamespaces';

export interface Remaining {
  readonly stage: DrainStage;
  /** Names the objects that block the deletion. */
  readonly message: string;
}

export interface DrainOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Limits of one pass. */
const kindsAtOnce = 4;
const deletesAtOnce = 16;
const objectsMax = 2_000;
const pageSize = 500;

/** They cannot be deleted, or the platform writes to them. */
const systemNamespaces: ReadonlySet<string> = new Set([
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'kplane-system',
]);
const permanentNamespaces: ReadonlySet<string> = new Set(['default', ...systemNamespaces]);

/** Returns undefined when nothing is left. Rejects with the error of the control plane. */
export async function drain(options: DrainOptions): Promise<Remaining | undefined> {
  return (await drainResources(options)) ?? (await drainNamespaces(options));
}

async function drainResources({ client, clock, signal }: DrainOptions): Promise<Remaining | undefined> {
  const mapper = new KindMapper(client, { clock });
  const kinds = deletableKinds(await mapper.all({ signal }));
  const blockers = new Blockers();
  for (const groupVersion of mapper.unavailable) blockers.addText(`API ${groupVersion} is not available`);
  const found: { readonly kind: DiscoveredKind; readonly object: ApiObject }[] = [];
  await eachAtOnce(kindsAtOnce, kinds, async (kind) => {
    for await (const object of client.metadata.listAll(asMetadata(kind), { limit: pageSize, signal })) {
      if (found.length >= objectsMax) return;
      if (isDrained(kind, object)) found.push({ kind, object });
    }
  });
  await eachAtOnce(deletesAtOnce, found, async ({ kind, object }) => {
    blockers.add(kind.kind, object);
    if (object.metadata.deletionTimestamp !== undefined) return;
    const { namespace, name, uid } = object.metadata;
    await deleteUnlessChanged(() =>
      client.delete(kind, { namespace, name: name! }, { preconditions: { uid: uid! }, signal }),
    );
  });
  return blockers.isEmpty ? undefined : { stage: 'DeletingResources', message: blockers.message('object') };
}

async function drainNamespaces({ client, signal }: DrainOptions): Promise<Remaining | undefined> {
  const blockers = new Blockers();
  const { items } = await client.list(Namespace, { limit: objectsMax, signal });
  const namespaces = items.filter(({ metadata }) => !permanentNamespaces.has(metadata.name!));
  await eachAtOnce(deletesAtOnce, namespaces, async (namespace) => {
    blockers.add('Namespace', namespace);
    if (namespace.metadata.deletionTimestamp !== undefined) return;
    const { name, uid } = namespace.metadata;
    await deleteUnlessChanged(() =>
      client.delete(Namespace, { name: name! }, { preconditions: { uid: uid! }, signal }),
    );
  });
  return blockers.isEmpty ? undefined : { stage: 'DeletingNamespaces', message: blockers.message('namespace') };
}

/** One version of each kind in namespaces. Events expire, and writes of controllers create them again. */
export function deletableKinds(kinds: readonly DiscoveredKind[]): DiscoveredKind[] {
  const byResource = new Map<string, DiscoveredKind>();
  for (const kind of kinds) {
    const { isNamespaced, verbs, plural, group } = kind;
    if (!isNamespaced || plural === 'events' || !verbs.includes('list') || !verbs.includes('delete')) continue;
    const key = `${plural}.${group}`;
    // The preferred version comes first.
    if (!byResource.has(key)) byResource.set(key, kind);
  }
  return [...byResource.values()];
}

/**
 * Reports whether the object has to be deleted. In the namespaces of the system only objects with finalizers are: they can have resources
 * outside of the control plane. Objects that the platform creates again are ignored.
 */
export function isDrained({ kind }: Pick<DiscoveredKind, 'kind'>, { metadata }: ApiObject): boolean {
  const { namespace = '', name = '', finalizers = [] } = metadata;
  if (finalizers.length > 0) return true;
  if (systemNamespaces.has(namespace)) return false;
  if (kind === 'ServiceAccount') return name !== 'default';
  if (kind === 'ConfigMap') return name !== 'kube-root-ca.crt';
  const isOfApiServer = namespace === 'default' && name === 'kubernetes';
  return !(isOfApiServer && (kind === 'Service' || kind === 'Endpoints' || kind === 'EndpointSlice'));
}

/** An object that was recreated is deleted by the next pass. */
async function deleteUnlessChanged(request: () => Promise<unknown>): Promise<void> {
  await request().catch((error: unknown) => {
    if (!hasCode(error, 'Conflict')) throw error;
  });
}
