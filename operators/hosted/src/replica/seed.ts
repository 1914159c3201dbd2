/**
 * Makes the etcd of a new control plane from the snapshot of a tenant, and fences it. Each step derives from the annotations, so another operator
 * continues where one stopped:
 *
 *     replica-of   → Preparing → Secrets → snapshot file → Seeding, with the annotation of a restore → members → the fence → Fenced
 *
 * The members are made by a restore (`../restore`) that keeps revisions.
 */

import { release } from '@hangar/api';
import type { Client, Reader } from '@hangar/client';
import type { Clock } from '@hangar/core';
import { annotations, HostedControlPlane, replicaOf, replicaStateOf } from '../api/index.ts';
import type { ReplicaState } from '../api/index.ts';
import type { Writes } from '../control-plane/writes.ts';
import { digestOf } from '../pki/secrets.ts';
import { parseVersion } from '../render/index.ts';
import { continueRestore } from '../restore/driver.ts';
import type { RestoreWorld } from '../restore/driver.ts';
import { restoreResultOf, restoreStateOf } from '../restore/state.ts';
import type { RestoreState } from '../restore/state.ts';
import { ReplicaError } from './contract.ts';
import type { SeedOptions } from './contract.ts';
import type { PlaneEtcd } from './plane-etcd.ts';
import { ensureSecrets } from './secrets.ts';
import type { SnapshotFiles, TenantSnapshot } from './snapshot-files.ts';

export interface SeedWorld {
  readonly client: Client;
  readonly apiReader: Reader;
  readonly clock: Clock;
  readonly writes: Pick<Writes, 'make'>;
  readonly files: SnapshotFiles;
  readonly restore: Omit<RestoreWorld, 'spools'>;
  /** Undefined: no member can be reached yet. */
  openEtcd(object: HostedControlPlane, signal: AbortSignal): Promise<PlaneEtcd | undefined>;
}

/** `complete`: etcd has the data and the fence. `again`: the next step is due now. */
export type SeedStep = 'complete' | 'again' | { readonly message: string };

/** The pods of the restore need the snapshot only in these phases. */
const phasesWithFile: ReadonlySet<RestoreState['phase']> = new Set(['Stopping', 'Restoring'] as const);

/** A UID that can be a part of a path. */
export const restoreUid = ({ id, attempt }: Pick<ReplicaState, 'id' | 'attempt'>): string =>
  `replica-${digestOf([id, attempt])}`;

export async function seedStep(
  world: SeedWorld,
  object: HostedControlPlane,
  options: SeedOptions,
  signal: AbortSignal,
): Promise<SeedStep> {
  const state = replicaStateOf(object);
  requireOwn(object, state, options.id);
  if (state === undefined) return prepare(world, object, options, signal);
  if (state.phase === 'Fenced' || state.phase === 'Active') return 'complete';
  if (state.phase === 'Preparing') {
    await ensureSecrets(world, object, options.keys, signal);
    return begin(world, object, { state, options, signal });
  }
  const uid = restoreUid(state);
  const restore = restoreStateOf(object);
  if (restore === undefined && restoreResultOf(object)?.uid === uid) return fence(world, object, state, signal);
  const isLost = restore === undefined || restore === 'malformed' || restore.uid !== uid;
  const needsFile = !isLost && phasesWithFile.has(restore.phase) && world.files.get(uid) === undefined;
  if (isLost || needsFile) return begin(world, object, { state, options, signal });
  return restoreOn(world, object, uid, signal);
}

/** Throws `Conflict` if the control plane is not made by this migration. */
function requireOwn(
  object: HostedControlPlane,
  state: ReturnType<typeof replicaStateOf>,
  id: string,
): asserts state is ReplicaState | undefined {
  if (state === 'malformed') throw conflict(object, `its annotation ${annotations.replica} cannot be read`);
  const owner = state?.id ?? replicaOf(object);
  if (owner === undefined) throw conflict(object, 'it was not created by a migration, so its etcd has other data');
  if (owner !== id) throw conflict(object, `it belongs to migration ${JSON.stringify(owner)}`);
}

const conflict = ({ metadata }: HostedControlPlane, why: string): ReplicaError =>
  new ReplicaError(
    'Conflict',
    `HostedControlPlane ${JSON.stringify(`${metadata.namespace}/${metadata.name}`)} cannot be seeded: ${why}`,
  );

async function prepare(
  world: SeedWorld,
  object: HostedControlPlane,
  { id, keys }: SeedOptions,
  signal: AbortSignal,
): Promise<SeedStep> {
  const { minor } = parseVersion(object.spec.version);
  const tenant = parseVersion(`v${release}`);
  if (minor !== tenant.minor) {
    const message = `the tenant has the objects of Kubernetes 1.${tenant.minor}, and version ${object.spec.version} does not start with them: set a version of 1.${tenant.minor}, and change it after the migration`;
    throw new ReplicaError('Refused', message);
  }
  const { issuer, servingCa } = keys;
  await write(world, object, 'prepare', { id, phase: 'Preparing', attempt: 0, issuer, servingCa }, {}, signal);
  return 'again';
}

interface SeedContext {
  readonly state: ReplicaState;
  readonly options: SeedOptions;
  readonly signal: AbortSignal;
}

/** Writes a snapshot, then records the restore from it. The earlier attempt, if any, lost its snapshot. */
async function begin(
  world: SeedWorld,
  object: HostedControlPlane,
  { state, options, signal }: SeedContext,
): Promise<SeedStep> {
  const next: ReplicaState = { ...state, attempt: state.attempt + 1 };
  const uid = restoreUid(next);
  await world.files.drop(restoreUid(state));
  const snapshot = await world.files.write(uid, options.frames, signal);
  const seeding: ReplicaState = { ...next, phase: 'Seeding', serviceCidrs: snapshot.serviceCidrs };
  const restore = restoreStateFor(world, object, uid, snapshot);
  await write(world, object, 'seed', seeding, { [annotations.restore]: JSON.stringify(restore) }, signal);
  return 'again';
}

const restoreStateFor = (
  { clock }: SeedWorld,
  { spec }: HostedControlPlane,
  uid: string,
  { file }: TenantSnapshot,
): RestoreState => ({
  uid,
  phase: 'Stopping',
  isNew: true,
  isReplica: true,
  members: spec.etcd?.replicas ?? 3,
  snapshot: file.facts,
  bumpRevision: 0,
  failures: 0,
  since: new Date(clock.now()).toISOString(),
});

async function restoreOn(
  { restore, files }: SeedWorld,
  { metadata }: HostedControlPlane,
  uid: string,
  signal: AbortSignal,
): Promise<SeedStep> {
  const spools: RestoreWorld['spools'] = {
    get: () => Promise.resolve({ head: undefined as never, snapshot: files.get(uid)!.file }),
    drop: (one) => files.drop(one),
  };
  const open = () => Promise.reject(new ReplicaError('NotReady', 'the snapshot of the tenant was removed'));
  const key = { namespace: metadata.namespace!, name: metadata.name! };
  const progress = await continueRestore({ ...restore, spools }, key, { uid, signal, open });
  return progress.state === 'Complete' ? 'again' : { message: progress.message };
}

/** API servers start after the annotation, so no write of them can come before the fence. */
async function fence(
  world: SeedWorld,
  object: HostedControlPlane,
  state: ReplicaState,
  signal: AbortSignal,
): Promise<SeedStep> {
  await using etcd = await world.openEtcd(object, signal);
  if (!etcd) return { message: 'waiting for the addresses of the members of etcd' };
  await world.writes.make('replica-fence', () => etcd.fence());
  await write(world, object, 'fenced', { ...state, phase: 'Fenced' }, {}, signal);
  return 'again';
}

/** Rejects with `Conflict` if the object was changed meanwhile. */
export async function write(
  { client, writes }: Pick<SeedWorld, 'client' | 'writes'>,
  { metadata }: HostedControlPlane,
  name: string,
  state: ReplicaState,
  others: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name: object, uid, resourceVersion } = metadata;
  const notes = { [annotations.replica]: JSON.stringify(state), ...others };
  const body = { metadata: { uid, resourceVersion, annotations: notes } };
  await writes.make(`replica-${name}`, () =>
    client.patch(HostedControlPlane, { namespace, name: object! }, { type: 'merge', body }, { signal }),
  );
}
