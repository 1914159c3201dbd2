/**
 * The controller of ControlPlaneRegistrations: resolves the address and the kubeconfig of a control plane, for the services that work on
 * it. The steps are in README.md. All dependencies of a registration are watched; nothing is polled.
 */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { aborted } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { setCondition, writeStatus } from '@hangar/runtime';
import type { ControllerOptions, NewCondition, ReconcileContext, Reconciler, Result } from '@hangar/runtime';
import { ControlPlane, ControlPlaneEndpoint, ControlPlaneRegistration } from '../api/index.ts';
import type { ControlPlaneRegistrationStatus, SecretReference } from '../api/index.ts';
import type { FollowedSecrets } from './followed-secrets.ts';
import { madeFor, requestsOfControlPlane, requestsOfEndpoint, requestsOfSecret } from './indexes.ts';
import { kubeconfigFacts, kubeconfigIn, withServer } from './kubeconfig.ts';
import type { KubeconfigFacts } from './kubeconfig.ts';
import { deleteOwnSecrets, writeOwnSecret } from './own-secret.ts';
import { controlPlaneOf, isOwn, resolve, secretOf } from './resolution.ts';
import type { Resolution } from './resolution.ts';
import { canonicalServices, isCanonical } from './services.ts';

export interface RegistrationWorld {
  readonly clock: Clock;
  readonly followed: FollowedSecrets;
}

/** Retry delay when too many Secrets are followed: no event reports free capacity. */
const noRoomPauseMs = 60_000;

type Watched = [ControlPlane, ControlPlaneEndpoint, Secret];

/** Requires `addRegistrationIndexes` first. */
export const registrationController = (
  world: RegistrationWorld,
): ControllerOptions<ControlPlaneRegistration, [], Watched> => ({
  name: 'controlplaneregistration',
  for: ControlPlaneRegistration,
  watches: [
    { kind: ControlPlane, map: ({ metadata }, { cache }) => requestsOfControlPlane(cache, metadata.name!) },
    { kind: ControlPlaneEndpoint, map: ({ metadata }, { cache }) => requestsOfEndpoint(cache, metadata.name!) },
    { kind: Secret, map: (secret, { cache }) => requestsOfSecret(cache, secret) },
  ],
  sources: [
    async ({ enqueue }, signal) => {
      world.followed.onChange((name) => enqueue({ name }));
      await aborted(signal);
      await world.followed.close();
    },
  ],
  concurrency: 4,
  reconcile: registrationReconciler(world),
});

export const registrationReconciler =
  (world: RegistrationWorld): Reconciler =>
  async ({ name }, context) => {
    const { client, cluster, signal } = context;
    const registration = await find(client, ControlPlaneRegistration, { name });
    if (!registration || registration.metadata.deletionTimestamp) {
      world.followed.follow(name, undefined);
      return deleteOwnSecrets(client, madeFor(cluster.cache, name), { signal });
    }
    if (!isCanonical(registration.spec.services ?? [])) return writeServices(client, registration, signal);
    const { resolution, keep, result } = await resolved(world, registration, context);
    const status = statusAfter(registration, resolution, world.clock);
    await writeStatus(client, { kind: ControlPlaneRegistration, object: registration, status, signal });
    // After the status, so that no published status names a deleted Secret.
    await deleteOwnSecrets(client, madeFor(cluster.cache, name), { keep, signal });
    return result;
  };

/** Its event triggers the next pass, as conflicts do. */
async function writeServices(client: Client, { metadata, spec }: ControlPlaneRegistration, signal: AbortSignal) {
  const { uid, resourceVersion, name } = metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { services: canonicalServices(spec.services ?? []) } };
  await client.patch(ControlPlaneRegistration, { name: name! }, { type: 'merge', body }, { signal });
}

interface Resolved {
  readonly resolution: Resolution;
  /** The Secret that was created for the registration, while it is needed. */
  readonly keep?: SecretReference;
  readonly result?: Result;
}

async function resolved(
  world: RegistrationWorld,
  registration: ControlPlaneRegistration,
  { client, signal }: ReconcileContext,
): Promise<Resolved> {
  const name = controlPlaneOf(registration);
  const controlPlane = name === '' ? undefined : await find(client, ControlPlane, { name });
  const { endpointRef } = registration.spec;
  const endpoint = endpointRef && (await find(client, ControlPlaneEndpoint, { name: endpointRef.name }));
  const reference = secretOf(registration, controlPlane);
  const isForeign = reference !== undefined && !isOwn(reference, name);
  const hasRoom = world.followed.follow(registration.metadata.name!, isForeign ? reference : undefined);
  if (!hasRoom) return noRoom(world, resolve({ registration, controlPlane, endpoint }));
  const read = isForeign ? world.followed.get(reference) : reference && (await find(client, Secret, reference));
  const secret = read === 'pending' ? undefined : read;
  const kubeconfig =
    read === 'pending' ? asPublished(registration, reference!) : secret && (await kubeconfigFacts(secret));
  const resolution = resolve({ registration, controlPlane, endpoint, kubeconfig });
  if (resolution.reason !== 'Resolved' || !resolution.rewrite) return { resolution };
  const text = withServer(kubeconfigIn(secret!)!, resolution.address);
  const keep = await writeOwnSecret(client, { registration, kubeconfig: text, signal });
  return { resolution: { ...resolution, secret: keep }, keep };
}

/**
 * A Secret that is not cached yet, as after every start of the operator, counts as unchanged since the last status: services must not lose
 * a control plane for that. Its arrival triggers another pass.
 */
function asPublished(
  { status }: ControlPlaneRegistration,
  { namespace, name }: SecretReference,
): KubeconfigFacts | undefined {
  const { ready, resolvedEndpoint, resolvedKubeconfigSecretRef: last } = status ?? {};
  const isSame = last?.namespace === namespace && last?.name === name;
  return ready && isSame && resolvedEndpoint !== undefined ? { server: resolvedEndpoint } : undefined;
}

/** Other missing dependencies are reported first. */
function noRoom({ followed }: RegistrationWorld, resolution: Resolution): Resolved {
  if (resolution.reason !== 'KubeconfigPending') return { resolution };
  const message = `registrations refer to more than ${followed.sizeMax} Secrets: remove spec.kubeconfigSecretRef to use the Secret of the control plane, or delete registrations`;
  return { resolution: { reason: 'KubeconfigPending', message }, result: { requeueAfterMs: noRoomPauseMs } };
}

function statusAfter(
  { metadata, status }: ControlPlaneRegistration,
  resolution: Resolution,
  clock: Clock,
): ControlPlaneRegistrationStatus {
  const { generation: observedGeneration = 0 } = metadata;
  const isReady = resolution.reason === 'Resolved';
  const message = isReady ? '' : resolution.message;
  const next: NewCondition = { type: 'Ready', status: isReady, reason: resolution.reason, message, observedGeneration };
  // Conditions of services stay.
  const conditions = setCondition(status?.conditions, next, clock);
  // Never publishes inconsistent values.
  const controllerManager = status?.controllerManager ? { controllerManager: status.controllerManager } : {};
  if (!isReady) return { ready: false, observedGeneration, ...controllerManager, conditions };
  const { address: resolvedEndpoint, secret: resolvedKubeconfigSecretRef } = resolution;
  return {
    ready: true,
    resolvedEndpoint,
    resolvedKubeconfigSecretRef,
    observedGeneration,
    ...controllerManager,
    conditions,
  };
}
