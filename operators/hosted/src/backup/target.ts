/** HostedControlPlanes as a target of backups and restores: the contract of `@hangar/backup-operator`. */

import { find } from '@hangar/client';
import type { Client, Reader } from '@hangar/client';
import type { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { hasCode, systemClock } from '@hangar/core';
import type { Clock, Failpoints } from '@hangar/core';
import { labels as backupLabels, TargetError } from '@hangar/backup-operator';
import type {
  BackupTarget,
  ContentSummary,
  RestoreOptions,
  RestoreProgress,
  TargetName,
} from '@hangar/backup-operator';
import { isBeingDeleted } from '@hangar/runtime';
import { annotations, HostedControlPlane, isFenced, pausedAnnotation, replicaHoldOf } from '../api/index.ts';
import { Writes } from '../control-plane/writes.ts';
import { readMembership } from '../etcd/membership.ts';
import { etcdMembershipName, newestOf, planeOf, renderings as knownRenderings } from '../render/index.ts';
import type { Renderings } from '../render/index.ts';
import { versionFault } from '../restore/compatibility.ts';
import { continueRestore, resultFor } from '../restore/driver.ts';
import type { RestoreWorld } from '../restore/driver.ts';
import { newPlane } from '../restore/new-plane.ts';
import { Spools } from '../restore/spools.ts';
import { bumpRevisionFor, restoreResultOf, restoreStateOf } from '../restore/state.ts';
import type { RestoreState } from '../restore/state.ts';
import { accessOf, exportPlane, findPlane, notReady, planeNameOf } from './export.ts';
import { memberAccess, openKeys, openMaintenance } from './member-access.ts';
import type { EtcdOfPlane, MemberAccessOptions } from './member-access.ts';
import type { SnapshotFacts } from './payload.ts';
import { summarizeKeys } from './summarize.ts';

export interface HostedTargetOptions {
  /** The management cluster. */
  readonly client: Client;
  /** Reads from the server. Absent: the client. */
  readonly apiReader?: Reader | undefined;
  /** Absent: `service`. */
  readonly reach?: 'service' | 'endpoint' | undefined;
  /** Folder for snapshots on their way. It needs space for the largest database of each concurrent backup and restore. */
  readonly scratchFolder: string;
  /** Image with the program `hangar`, which runs in pods of restores. Absent: restores are refused. */
  readonly image?: string | undefined;
  readonly renderings?: Renderings | undefined;
  readonly clock?: Clock | undefined;
  /** Reads the content of the running etcd. Absent: over TLS, as `reach` says. */
  readonly contentOf?: RestoreWorld['contentOf'] | undefined;
  /** For tests: `hosted.restore-<write>.before` and `.after`. */
  readonly failpoints?: Pick<Failpoints, 'hit'> | undefined;
}

export function hostedTarget(options: HostedTargetOptions): BackupTarget {
  const { client, scratchFolder, image, renderings = knownRenderings, clock = systemClock } = options;
  const { apiReader = client, reach = 'service' } = options;
  const world: RestoreWorld = {
    client,
    apiReader,
    reach,
    contentOf: options.contentOf ?? ((etcd, signal) => contentOf(etcd, { client, apiReader, reach, signal })),
    scratchFolder,
    clock,
    image: image ?? '',
    writes: new Writes(options.failpoints),
    spools: new Spools(scratchFolder),
    etcdSet: (object) => Promise.resolve(etcdSetOf(object, renderings)),
  };
  return {
    kind: 'HostedControlPlane',
    isNamespaced: true,
    async list(selector, { namespace, signal }) {
      const { items } = await client.list(HostedControlPlane, { namespace, labelSelector: selector, signal });
      return items.map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name! }));
    },
    export: (name, call) => exportPlane(world, name, call),
    summarize: (name, { signal }) => summarize(world, name, signal),
    create: (name, call) => restoring(world, call, () => create(world, keyOf(name), call)),
    replace: (name, call) => restoring(world, call, () => replace(world, keyOf(name), call)),
    delete: (name, { signal }) => deleteDrill(world, keyOf(name), signal),
  };
}

type PlaneKey = { readonly namespace: string; readonly name: string };

const keyOf = ({ namespace = '', name }: TargetName): PlaneKey => ({ namespace, name });
const quoted = ({ namespace, name }: PlaneKey): string =>
  `HostedControlPlane ${JSON.stringify(`${namespace}/${name}`)}`;

export function etcdSetOf(object: HostedControlPlane, renderings: Renderings): StatefulSet {
  const version = object.metadata.annotations?.[annotations.rendering] ?? newestOf(renderings);
  const rendering = renderings.get(version);
  if (!rendering) throw notReady(object, `this operator does not support rendering ${version}`);
  const plane = planeOf(object, { name: planeNameOf(object), serviceType: 'ClusterIP' });
  return rendering.etcd(plane, '').find(({ kind }) => kind.kind === 'StatefulSet')!.object as StatefulSet;
}

/** A restore that cannot succeed does not keep its file. */
async function restoring<T>(
  { spools, image }: RestoreWorld,
  { uid }: RestoreOptions,
  restore: () => Promise<T>,
): Promise<T> {
  if (image === '') {
    throw new TargetError(
      'Refused',
      'the operator cannot restore: it has no image for pods of restores, set --restore-image',
    );
  }
  try {
    return await restore();
  } catch (error) {
    if (hasCode(error, 'Refused') || hasCode(error, 'AlreadyExists')) await spools.drop(uid);
    throw error;
  }
}

async function summarize(world: RestoreWorld, name: TargetName, signal: AbortSignal): Promise<ContentSummary> {
  const object = await findPlane(world, name, signal);
  await accessOf(world, object, signal);
  const content = await world.contentOf(etcdOf(object), signal);
  if (!content) throw notReady(object, 'its etcd has no members yet');
  return content;
}

export const etcdOf = (object: HostedControlPlane): EtcdOfPlane => ({
  namespace: object.metadata.namespace!,
  name: planeNameOf(object),
  replicas: object.spec.etcd?.replicas ?? 3,
  isFenced: isFenced(object),
});

/** Undefined: no member has an address yet. */
export async function contentOf(etcd: EtcdOfPlane, options: MemberAccessOptions): Promise<ContentSummary | undefined> {
  const access = await memberAccess(etcd, options);
  const [member] = access?.members ?? [];
  if (!access || !member) return undefined;
  const store = await openKeys(access, member);
  try {
    return await summarizeKeys(store, options.signal);
  } finally {
    await store.close();
  }
}

async function create(world: RestoreWorld, key: PlaneKey, options: RestoreOptions): Promise<RestoreProgress> {
  const { signal, uid, labels = {}, className } = options;
  const existing = await find(world.apiReader, HostedControlPlane, key, { signal });
  if (existing) {
    const done = resultFor(existing, uid);
    if (done) return done;
    const state = restoreStateOf(existing);
    if (state === undefined || state === 'malformed' || state.uid !== uid) {
      throw new TargetError('AlreadyExists', `${quoted(key)} exists: restore into another name, or in place`);
    }
    return continueRestore(world, key, options);
  }
  if (className !== undefined) {
    throw new TargetError('Refused', 'spec.className is for ControlPlanes: a HostedControlPlane has no class');
  }
  const { head, snapshot } = await world.spools.get(options);
  const bumpRevision = bumpRevisionFor({ snapshot: snapshot.facts.revision });
  const members = head.spec.etcd?.replicas ?? 3;
  const state = stateOf(world, { uid, facts: snapshot.facts, bumpRevision, members, isNew: true });
  const isDrill = labels[backupLabels.drill] !== undefined;
  const draft = newPlane(head, { ...key, labels, isDrill, state });
  await world.writes.make('restore-create', () => world.client.create(HostedControlPlane, draft, { signal }));
  return continueRestore(world, key, options);
}

async function replace(world: RestoreWorld, key: PlaneKey, options: RestoreOptions): Promise<RestoreProgress> {
  const { signal, uid } = options;
  const object = await findPlane(world, key, signal);
  const done = resultFor(object, uid);
  if (done) return done;
  const state = restoreStateOf(object);
  if (state === 'malformed') throw notReady(object, `its annotation ${annotations.restore} cannot be read`);
  if (state && state.uid !== uid) throw notReady(object, 'another restore is in progress');
  if (!state) await begin(world, object, options);
  return continueRestore(world, key, options);
}

/** Verifies the backup, then records the restore on the object. Nothing was changed before. */
async function begin(world: RestoreWorld, object: HostedControlPlane, options: RestoreOptions): Promise<void> {
  const { signal, uid } = options;
  if (isBeingDeleted(object)) throw new TargetError('Refused', `${quoted(objectKey(object))} is being deleted`);
  if (object.metadata.annotations?.[pausedAnnotation] !== undefined) throw notReady(object, 'it is paused');
  if (replicaHoldOf(object) !== undefined) throw notReady(object, 'it is a replica: a migration is in progress');
  if (object.metadata.annotations?.[annotations.rendering] === undefined)
    throw notReady(object, 'it is not reconciled yet');
  await requireStableMembers(world, object, signal);
  const { head, snapshot } = await world.spools.get(options);
  const { image } = (await world.etcdSet(object)).spec!.template.spec!.containers[0]!;
  const fault = versionFault(head, { kubernetes: object.spec.version, etcd: image?.split(':').at(-1) });
  if (fault) throw new TargetError('Refused', fault);
  const bumpRevision = bumpRevisionFor({
    snapshot: snapshot.facts.revision,
    current: await currentRevision(world, object, signal),
    lastRestored: restoreResultOf(object)?.revision,
  });
  const members = object.spec.etcd?.replicas ?? 3;
  const state = stateOf(world, { uid, facts: snapshot.facts, bumpRevision, members, isNew: false });
  const { uid: objectUid, resourceVersion } = object.metadata;
  const body = {
    metadata: { uid: objectUid, resourceVersion, annotations: { [annotations.restore]: JSON.stringify(state) } },
  };
  await world.writes.make('restore-begin', () =>
    world.client.patch(HostedControlPlane, objectKey(object), { type: 'merge', body }, { signal }),
  );
}

/** Pods that join or leave have other volumes than those of the spec. */
async function requireStableMembers(
  { apiReader }: RestoreWorld,
  object: HostedControlPlane,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '' } = object.metadata;
  const key = { namespace, name: etcdMembershipName({ name: planeNameOf(object) }) };
  const map = await find(apiReader, ConfigMap, key, { signal });
  const membership = map && readMembership(map);
  if (!membership) return;
  const { phase, replicas, firstOrdinal } = membership;
  const isStable = (phase === 'closed' || phase === 'bootstrap') && firstOrdinal === 0;
  if (!isStable || replicas !== (object.spec.etcd?.replicas ?? 3)) {
    throw notReady(object, 'members of its etcd are being replaced or added');
  }
}

const objectKey = ({ metadata }: HostedControlPlane): PlaneKey => ({
  namespace: metadata.namespace!,
  name: metadata.name!,
});

interface StateInputs {
  readonly uid: string;
  readonly facts: SnapshotFacts;
  readonly bumpRevision: number;
  readonly members: number;
  readonly isNew: boolean;
}

const stateOf = ({ clock }: RestoreWorld, { facts, isNew, ...rest }: StateInputs): RestoreState => ({
  ...rest,
  phase: isNew ? 'Preparing' : 'Stopping',
  isNew,
  snapshot: facts,
  failures: 0,
  since: new Date(clock.now()).toISOString(),
});

/** The highest revision of the members that respond. Undefined: none responds, for example because etcd is damaged. */
async function currentRevision(
  { client, apiReader, reach }: RestoreWorld,
  object: HostedControlPlane,
  signal: AbortSignal,
): Promise<number | undefined> {
  const access = await memberAccess(etcdOf(object), { client, apiReader, reach, signal });
  const revisions = await Promise.all(
    (access?.members ?? []).map(async (member) => {
      const maintenance = openMaintenance(access!, member);
      try {
        return (await maintenance.status()).revision;
      } catch {
        return 0;
      } finally {
        maintenance.close();
      }
    }),
  );
  const highest = Math.max(0, ...revisions);
  return highest === 0 ? undefined : highest;
}

/** Only control planes with the label of drills are deleted. */
async function deleteDrill(
  { client, apiReader, writes }: RestoreWorld,
  key: PlaneKey,
  signal: AbortSignal,
): Promise<void> {
  const object = await find(apiReader, HostedControlPlane, key, { signal });
  if (!object || isBeingDeleted(object)) return;
  if (object.metadata.labels?.[backupLabels.drill] === undefined) {
    throw new TargetError('Refused', `${quoted(key)} was not created by a drill`);
  }
  const preconditions = { uid: object.metadata.uid! };
  await writes.make('restore-delete', async () => {
    // A paused control plane is not deleted.
    const body = { metadata: { annotations: { [pausedAnnotation]: null } } };
    await client.patch(HostedControlPlane, key, { type: 'merge', body }, { signal });
    await client.delete(HostedControlPlane, key, { preconditions, signal });
  });
}
