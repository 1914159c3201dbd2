/** HostedControlPlanes as replicas of tenants. */

import { find } from '@hangar/client';
import type { Client, Reader } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { hasCode, systemClock } from '@hangar/core';
import type { Clock, Failpoints } from '@hangar/core';
import { findCondition, isBeingDeleted, isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane, replicaOf, replicaStateOf } from '../api/index.ts';
import type { ReplicaState } from '../api/index.ts';
import { planeNameOf } from '../backup/export.ts';
import { contentOf, etcdOf, etcdSetOf } from '../backup/target.ts';
import type { HostedTargetOptions } from '../backup/target.ts';
import { Writes } from '../control-plane/writes.ts';
import { endpointUrl } from '../endpoint-url.ts';
import { externalAddress } from '../front-door/settings.ts';
import type { FrontDoorSettings } from '../front-door/settings.ts';
import { textIn } from '../pki/secrets.ts';
import { apiServiceHost, authorityNames, planeOf, renderings as knownRenderings } from '../render/index.ts';
import { ReplicaError } from './contract.ts';
import type {
  HostedReplica,
  HostedReplicaSession,
  HostedReplicaState,
  RemoteApiServer,
  SeedOptions,
} from './contract.ts';
import { KeptEtcds } from './kept-etcds.ts';
import { overTls } from './plane-etcd.ts';
import type { OpenPlaneEtcd, PlaneContent, PlaneEtcd } from './plane-etcd.ts';
import { seedStep, write } from './seed.ts';
import type { SeedWorld } from './seed.ts';
import { SnapshotFiles } from './snapshot-files.ts';

export interface HostedReplicasOptions extends Pick<
  HostedTargetOptions,
  'client' | 'apiReader' | 'reach' | 'scratchFolder' | 'renderings' | 'contentOf'
> {
  /** Image with the program `hangar`, which runs in pods with the volumes of etcd. */
  readonly image: string;
  /** How API servers are exposed that have no own address. */
  readonly frontDoor?: FrontDoorSettings | undefined;
  readonly clock?: Clock | undefined;
  /** Absent: over TLS, as `reach` says. */
  readonly openEtcd?: OpenPlaneEtcd | undefined;
  /** For tests: `hosted.replica-<write>.before` and `.after`, and those of restores. */
  readonly failpoints?: Pick<Failpoints, 'hit'> | undefined;
}

export interface PlaneKey {
  readonly namespace: string;
  readonly name: string;
}

/** Steps of one call of `seed`. */
const stepsMax = 20;

/** Returns the replica of a HostedControlPlane, which need not exist. */
export function hostedReplicas(options: HostedReplicasOptions): (key: PlaneKey) => HostedReplica {
  const { client, scratchFolder, image, renderings = knownRenderings, clock = systemClock, frontDoor } = options;
  const { apiReader = client, reach = 'service' } = options;
  const open = options.openEtcd ?? overTls({ client, apiReader, reach });
  const kept = new KeptEtcds(clock);
  const writes = new Writes(options.failpoints);
  const world: ReplicaWorld = {
    client,
    apiReader,
    clock,
    writes,
    files: new SnapshotFiles(scratchFolder),
    openEtcd: (object, signal) => kept.open(object.metadata.uid!, () => open(etcdOf(object), signal)),
    restore: {
      client,
      apiReader,
      reach,
      scratchFolder,
      clock,
      image,
      writes,
      etcdSet: (object) => Promise.resolve(etcdSetOf(object, renderings)),
      contentOf: options.contentOf ?? ((etcd, signal) => contentOf(etcd, { client, apiReader, reach, signal })),
    },
    addressOf: (object) => {
      const plane = planeOf(object, { name: planeNameOf(object), serviceType: 'ClusterIP' });
      if (reach === 'service') return { server: endpointUrl({ host: apiServiceHost(plane), port: plane.port }) };
      return plane.endpoint && externalAddress(plane, frontDoor);
    },
  };
  return (key) => ({
    state: (signal) => stateOf(world, key, signal),
    seed: (seed, signal) => seedPlane(world, key, seed, signal),
    open: (id, signal) => openReplica(world, key, id, signal),
  });
}

interface ReplicaWorld extends SeedWorld {
  readonly client: Client;
  readonly apiReader: Reader;
  /** Undefined: the control plane has no address yet. */
  addressOf(object: HostedControlPlane): { readonly server: string; readonly tlsServerName?: string } | undefined;
}

const quoted = ({ namespace, name }: PlaneKey): string =>
  `HostedControlPlane ${JSON.stringify(`${namespace}/${name}`)}`;

async function seedPlane(
  world: ReplicaWorld,
  key: PlaneKey,
  options: SeedOptions,
  signal: AbortSignal,
): Promise<HostedReplicaState> {
  for (let step = 0; step < stepsMax; step++) {
    const object = await find(world.apiReader, HostedControlPlane, key, { signal });
    if (!object || isBeingDeleted(object)) return absent(key, object);
    try {
      const next = await seedStep(world, object, options, signal);
      if (next === 'complete') return await stateOf(world, key, signal);
      if (next !== 'again') return { phase: 'Seeding', message: next.message };
    } catch (error) {
      // The object was changed at the same time: read it again.
      if (!hasCode(error, 'Conflict') || error instanceof ReplicaError) throw error;
    }
  }
  return { phase: 'Seeding', message: 'continuing' };
}

function absent(key: PlaneKey, object: HostedControlPlane | undefined): HostedReplicaState {
  const why = object ? 'is being deleted' : 'does not exist';
  return { phase: 'Absent', message: `${quoted(key)} ${why}` };
}

/** etcd decides whether it is fenced. The annotation, which controllers depend on, follows it. */
async function stateOf(world: ReplicaWorld, key: PlaneKey, signal: AbortSignal): Promise<HostedReplicaState> {
  const object = await find(world.apiReader, HostedControlPlane, key, { signal });
  if (!object || isBeingDeleted(object)) return absent(key, object);
  const state = replicaStateOf(object);
  if (state === 'malformed') throw new ReplicaError('Conflict', `the annotation of ${quoted(key)} cannot be read`);
  const isSeeded = state === undefined ? replicaOf(object) === undefined : !isSeeding(state);
  if (!isSeeded) return { phase: 'Seeding', message: pendingMessage(object) };
  await using etcd = await world.openEtcd(object, signal);
  if (!etcd) throw new ReplicaError('NotReady', `the etcd of ${quoted(key)} has no members yet`);
  const phase = (await etcd.isFenced()) ? 'Fenced' : 'Active';
  if (state !== undefined && state.phase !== phase)
    await write(world, object, 'follow', { ...state, phase }, {}, signal);
  // The revision is read after the fence: it is the last one then.
  const [remote, revision] = await Promise.all([remoteOf(world, object, signal), etcd.revision()]);
  return { phase, message: remote ? '' : pendingMessage(object), revision, ...(remote ? { remote } : {}) };
}

const isSeeding = ({ phase }: ReplicaState): boolean => phase === 'Preparing' || phase === 'Seeding';

function pendingMessage({ status }: HostedControlPlane): string {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready ? `${ready.reason}: ${ready.message}` : 'its operator has not reconciled it yet';
}

/** Undefined: no API server is available. */
async function remoteOf(
  world: ReplicaWorld,
  object: HostedControlPlane,
  signal: AbortSignal,
): Promise<RemoteApiServer | undefined> {
  const address = isConditionTrue(object.status?.conditions, 'Available') ? world.addressOf(object) : undefined;
  if (!address) return undefined;
  const { namespace } = object.metadata;
  const name = authorityNames({ name: planeNameOf(object) }).ca;
  const ca = textIn(await find(world.apiReader, Secret, { namespace, name }, { signal }), 'tls.crt');
  const { server, tlsServerName: serverName } = address;
  return ca === '' ? undefined : { server, ca, ...(serverName === undefined ? {} : { serverName }) };
}

/** Throws `NotReady` or `Conflict`. */
async function openReplica(
  world: ReplicaWorld,
  key: PlaneKey,
  id: string,
  signal: AbortSignal,
): Promise<HostedReplicaSession> {
  const object = await existing(world, key, signal);
  const state = replicaStateOf(object);
  if (state === 'malformed' || (state && state.phase !== 'Active' && state.id !== id)) {
    throw new ReplicaError('Conflict', `${quoted(key)} belongs to another migration`);
  }
  if (state ? isSeeding(state) : replicaOf(object) !== undefined) {
    throw new ReplicaError('NotReady', `the etcd of ${quoted(key)} does not have the data of the tenant yet`);
  }
  const etcd = await world.openEtcd(object, signal);
  if (!etcd) throw new ReplicaError('NotReady', `the etcd of ${quoted(key)} has no members yet`);
  return session(world, key, { id, etcd, signal });
}

async function existing(world: ReplicaWorld, key: PlaneKey, signal: AbortSignal): Promise<HostedControlPlane> {
  const object = await find(world.apiReader, HostedControlPlane, key, { signal });
  if (object && !isBeingDeleted(object)) return object;
  throw new ReplicaError('NotReady', absent(key, object).message);
}

interface OpenedReplica {
  readonly id: string;
  readonly etcd: PlaneEtcd;
  readonly signal: AbortSignal;
}

function session(world: ReplicaWorld, key: PlaneKey, { id, etcd, signal }: OpenedReplica): HostedReplicaSession {
  const note = (phase: 'Fenced' | 'Active') => notePhase(world, key, { id, phase, signal });
  let opened: Promise<PlaneContent> | undefined;
  const content = (): Promise<PlaneContent> => (opened ??= etcd.openContent());
  return {
    revision: () => etcd.revision(),
    apply: async (frames) => (await content()).apply(frames),
    digest: async (at) => (await content()).digest(at),
    async *frames(ending, options) {
      yield* (await content()).frames(ending, options);
    },
    async fence() {
      await claim(world, key, id, signal);
      const revision = await world.writes.make('replica-fence', () => etcd.fence());
      await note('Fenced');
      return revision;
    },
    async activate() {
      await world.writes.make('replica-unfence', () => etcd.unfence());
      await note('Active');
    },
    async [Symbol.asyncDispose]() {
      const replica = await opened?.catch(() => undefined);
      await replica?.close();
      await etcd[Symbol.asyncDispose]();
    },
  };
}

/**
 * Records the migration before its fence exists. If the operator stops after the fence, the annotation follows etcd with this ID, so that the
 * migration can still open the replica and remove the fence.
 */
async function claim(world: ReplicaWorld, key: PlaneKey, id: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const object = await existing(world, key, signal);
    const state = replicaStateOf(object);
    if (state === 'malformed') throw new ReplicaError('Conflict', `the annotation of ${quoted(key)} cannot be read`);
    if (state === undefined || state.phase !== 'Active' || state.id === id) return;
    try {
      return await write(world, object, 'claim', { ...state, id }, {}, signal);
    } catch (error) {
      // The object was changed at the same time.
      if (!hasCode(error, 'Conflict')) throw error;
    }
  }
}

/** The reconciler starts and stops controllers by it. */
async function notePhase(
  world: ReplicaWorld,
  key: PlaneKey,
  { id, phase, signal }: { readonly id: string; readonly phase: 'Fenced' | 'Active'; readonly signal: AbortSignal },
): Promise<void> {
  for (;;) {
    const object = await existing(world, key, signal);
    const state = replicaStateOf(object);
    if (state === 'malformed') throw new ReplicaError('Conflict', `the annotation of ${quoted(key)} cannot be read`);
    if (state?.phase === phase && state.id === id) return;
    try {
      return await write(world, object, phase.toLowerCase(), { attempt: 0, ...state, id, phase }, {}, signal);
    } catch (error) {
      // The object was changed at the same time.
      if (!hasCode(error, 'Conflict')) throw error;
    }
  }
}
