/**
 * Reconciles a HostedControlPlane: runs the phases in their order, then writes one status, and only if it differs. After an interruption
 * the next pass finds the objects of the completed phases and continues.
 */

import { find, keyOf } from '@hangar/client';
import { asError, hasCode, traced } from '@hangar/core';
import { hasFinalizer, isBeingDeleted, isConditionTrue } from '@hangar/runtime';
import type { ReconcileContext, Reconciler, Request, Result } from '@hangar/runtime';
import { annotations, finalizer, HostedControlPlane, pausedAnnotation } from '../api/index.ts';
import type { HostedControlPlaneStatus as Status } from '../api/index.ts';
import { isFault } from '../fault.ts';
import type { Fault } from '../fault.ts';
import { newestOf, planeOf } from '../render/index.ts';
import type { ClusterObject } from '../render/index.ts';
import { clusterOf, nameOf } from './cluster.ts';
import { isComplete, statusAfter, statusWithout } from './conditions.ts';
import type { Phase } from './conditions.ts';
import { deleteInOrder } from './deletion.ts';
import { etcdBackup } from './etcd-backup.ts';
import { figuresOf, secondsToReady } from './figures.ts';
import type { Pass, Verdict, World } from './pass.ts';
import { advanceRotations } from './rotation.ts';
import { formatSelector } from './selector.ts';
import { specFault } from './spec-fault.ts';
import { steps } from './steps/index.ts';
import { isStopRequested, stopWorkloads } from './stopped.ts';
import { writeStatus } from './write-status.ts';

export const hostedControlPlaneReconciler =
  (world: World): Reconciler =>
  async (request, context) => {
    const { namespace = '', name } = request;
    const attributes = () => ({ isRoot: true, 'k8s.namespace.name': namespace, 'hosted.control_plane': name });
    try {
      return await traced('reconcile', () => reconcile(world, request, context), attributes);
    } catch (error) {
      // A concurrent write or a stale cache: not an error.
      if (hasCode(error, 'Conflict') || hasCode(error, 'AlreadyExists')) return { requeue: true };
      throw error;
    }
  };

async function reconcile(
  world: World,
  { namespace, name }: Request,
  context: ReconcileContext,
): Promise<Result | void> {
  const { client, cluster: management, signal } = context;
  const object = await find(client, HostedControlPlane, { namespace, name }, { signal });
  if (!object) return forget(world, { namespace: namespace!, name });
  const write = async (status: HostedControlPlane['status']) => {
    world.autoscaler.forget(keyOf(object));
    world.metrics.observe(keyOf(object), figuresOf(object, status!));
    await writeStatus({ client, writes: world.writes, events: world.events, object, status: status!, signal });
  };
  const cluster = await clusterOf({ world, client, object, signal });
  if (isBeingDeleted(object)) {
    stopMeasuring(world, { namespace: namespace!, name });
    // The Cluster can be gone already.
    if (!isFault(cluster) && isPaused(object, cluster.object)) return void (await write(pausedDeletion(object, world)));
    const { apiReader } = management;
    return deleteInOrder({ world, client, apiReader, signal, hostedControlPlane: object });
  }
  if (isFault(cluster)) return refuse(world, object, cluster, write);
  if (isPaused(object, cluster.object)) {
    world.etcdCare.forget({ namespace: namespace!, name });
    return void (await write(statusWithout(object, [paused], world.clock)));
  }
  if (isStopRequested(object)) {
    return stopWorkloads({ world, client, apiReader: management.apiReader, signal, hostedControlPlane: object });
  }
  const started = await begin({ world, object, cluster: cluster.object, context });
  if (isFault(started)) return refuse(world, object, started, write);
  const pass: Pass = {
    world,
    client,
    apiReader: management.apiReader,
    signal,
    wakeUps: [],
    rotations: [],
    expirations: new Map(),
    ...started,
  };
  const outcomes = new Map<Phase, Verdict | undefined>();
  let failure: unknown;
  try {
    await runSteps(pass, outcomes);
  } catch (error) {
    if (signal.aborted || hasCode(error, 'Conflict') || hasCode(error, 'AlreadyExists')) throw error;
    failure = error;
    world.metrics.phaseFailed(failedPhase(outcomes));
  }
  const current = pass.hostedControlPlane;
  const status = statusAfter(pass, outcomes);
  observeAutoscaled(pass, status);
  world.metrics.observe(keyOf(current), figuresOf(current, status, pass));
  await writeStatus({ client, writes: world.writes, events: world.events, object: current, status, signal });
  if (failure !== undefined) throw asError(failure);
  const seconds = secondsToReady(current, status, world.clock.now());
  if (seconds !== undefined) world.metrics.becameReady(seconds);
  return resultOf(pass, outcomes);
}

const paused = { type: 'Paused', status: true, reason: 'Paused', message: 'the object or its Cluster is paused' };

function pausedDeletion(object: HostedControlPlane, { clock }: World): HostedControlPlane['status'] {
  const message = 'the deletion waits: the object or its Cluster is paused';
  return statusWithout(object, [paused, { ...paused, type: 'Deleting', message }], clock);
}

type NamespacedKey = { readonly namespace: string; readonly name: string };

/** Stops measurements of a deleted object. */
function stopMeasuring({ etcdCare, autoscaler }: World, key: NamespacedKey): void {
  etcdCare.forget(key);
  autoscaler.forget(key);
}

function forget(world: World, key: NamespacedKey): void {
  world.metrics.remove(key);
  stopMeasuring(world, key);
}

/** A control plane without complete certificates has no API server yet. */
function observeAutoscaled({ world, hostedControlPlane, plane, authorities }: Pass, status: Status): void {
  const key = keyOf(hostedControlPlane);
  if (!hostedControlPlane.spec.autoscaling || !authorities) return world.autoscaler.forget(key);
  const { conditions } = status;
  world.autoscaler.observe(key, {
    plane,
    selector: formatSelector(plane),
    authority: authorities.ca,
    mayAdd: isConditionTrue(conditions, 'EtcdClusterReady'),
    mayRemove: isConditionTrue(conditions, 'Ready') && !isConditionTrue(conditions, 'CertificatesRotating'),
  });
}

async function refuse(
  world: World,
  object: HostedControlPlane,
  { reason, message }: Fault,
  write: (status: HostedControlPlane['status']) => Promise<void>,
): Promise<void> {
  await write(statusWithout(object, [{ type: 'Ready', status: false, reason, message }], world.clock));
}

/** The last step that ran, unless the failure came after all of them. */
function failedPhase(outcomes: ReadonlyMap<Phase, Verdict | undefined>): Phase | 'Rotation' {
  const [phase, verdict] = [...outcomes].at(-1) ?? [];
  return phase && verdict?.reason === 'ReconcileError' ? phase : 'Rotation';
}

async function runSteps(pass: Pass, outcomes: Map<Phase, Verdict | undefined>): Promise<void> {
  const { clock, metrics } = pass.world;
  for (const [phase, step] of steps) {
    const startedMs = clock.monotonicMs();
    try {
      const verdict = await traced(phase, () => step(pass));
      outcomes.set(phase, verdict);
      if (verdict && !verdict.isPartial) return;
    } catch (error) {
      outcomes.set(phase, {
        reason: 'ReconcileError',
        message: `reconcile failed, retrying: ${asError(error).message}`,
      });
      throw error;
    } finally {
      metrics.phaseTook(phase, (clock.monotonicMs() - startedMs) / 1_000);
    }
  }
  await etcdBackup(pass);
  if (isComplete(outcomes)) await advanceRotations(pass);
}

interface Beginning {
  readonly world: World;
  readonly object: HostedControlPlane;
  readonly cluster: ClusterObject | undefined;
  readonly context: ReconcileContext;
}

/**
 * Records the name, the rendering and the finalizer on the object, once. They stay for its lifetime; a new version adopts the newest
 * rendering. No other object exists before.
 */
async function begin({
  world,
  object,
  cluster,
  context,
}: Beginning): Promise<
  Pick<Pass, 'hostedControlPlane' | 'cluster' | 'plane' | 'rendering' | 'renderingVersion'> | Fault
> {
  const name = nameOf(object, cluster);
  if (isFault(name)) return name;
  const noted = object.metadata.annotations?.[annotations.rendering];
  const isUpgrade =
    object.status?.version !== undefined &&
    object.status.version !== object.spec.version &&
    object.metadata.annotations?.[annotations.adopted] !== object.spec.version;
  const version = noted === undefined || isUpgrade ? newestOf(world.renderings) : noted;
  const rendering = world.renderings.get(version);
  if (!rendering) {
    const known = [...world.renderings.keys()].join(', ');
    return {
      reason: 'UnknownRendering',
      message: `annotation ${annotations.rendering} is ${version}: this operator supports ${known}`,
    };
  }
  const { serviceType, konnectivity, frontDoor } = world;
  const exposure = frontDoor?.settings.exposure;
  const plane = planeOf(object, { name, cluster, serviceType, konnectivity, exposure });
  const fault = specFault(plane, rendering);
  if (fault) return fault;
  const isByDefault = plane.exposure === 'front-door' && !object.spec.frontDoor;
  const wanted = {
    [annotations.rendering]: version,
    [annotations.clusterName]: name,
    ...(isByDefault ? { [annotations.exposure]: plane.exposure } : {}),
    ...(isUpgrade ? { [annotations.adopted]: object.spec.version } : {}),
  };
  const isNoted =
    hasFinalizer(object, finalizer) &&
    Object.entries(wanted).every(([key, value]) => object.metadata.annotations?.[key] === value);
  const hostedControlPlane = isNoted ? object : await note(world, object, wanted, context);
  return { hostedControlPlane, cluster, plane, rendering, renderingVersion: version };
}

async function note(
  { writes }: World,
  object: HostedControlPlane,
  wanted: Readonly<Record<string, string>>,
  { client, signal }: ReconcileContext,
): Promise<HostedControlPlane> {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  const finalized = hasFinalizer(object, finalizer) ? {} : { finalizers: [...finalizers, finalizer] };
  const body = { metadata: { uid, resourceVersion, annotations: wanted, ...finalized } };
  return writes.make('annotations', () =>
    client.patch(HostedControlPlane, keyOf(object), { type: 'merge', body }, { signal }),
  );
}

const isPaused = ({ metadata }: HostedControlPlane, cluster: ClusterObject | undefined): boolean =>
  metadata.annotations?.[pausedAnnotation] !== undefined || cluster?.spec?.paused === true;

function resultOf({ wakeUps, world }: Pass, outcomes: ReadonlyMap<Phase, Verdict | undefined>): Result {
  const delays = [...outcomes.values()].flatMap((verdict) => verdict?.requeueAfterMs ?? []);
  const times = wakeUps.map((atMs) => atMs - world.clock.now());
  const all = [...delays, ...times];
  return all.length === 0 ? {} : { requeueAfterMs: Math.max(1, Math.min(...all)) };
}
