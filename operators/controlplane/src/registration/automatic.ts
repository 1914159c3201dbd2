/**
 * Creates the registrations that a class defines for its control planes: one of the control plane's name, owned by it. One of that name
 * with another creator is never changed.
 *
 * Keyed by control plane. Watches the class; a registration that a user changed is repaired.
 */

import { find, keyOf } from '@hangar/client';
import type { Client } from '@hangar/client';
import { isDeepStrictEqual } from 'node:util';
import { controllerOf, controllerReference, isControlledBy } from '@hangar/runtime';
import type { ControllerOptions, Reconciler } from '@hangar/runtime';
import { ControlPlane, ControlPlaneClass, ControlPlaneRegistration, group } from '../api/index.ts';
import type { ClassRegistration, ControlPlaneRegistrationSpec } from '../api/index.ts';
import { byClass } from '../control-plane/indexes.ts';
import { isServedDedicated } from '../migration/current-mode.ts';
import { canonicalServices, dedicatedServices } from './services.ts';

/** Uses the index of `addControlPlaneController`. */
export const automaticController = (): ControllerOptions<
  ControlPlane,
  [ControlPlaneRegistration],
  [ControlPlaneClass]
> => ({
  name: 'class-registration',
  for: ControlPlane,
  owns: [ControlPlaneRegistration],
  watches: [
    {
      kind: ControlPlaneClass,
      map: ({ metadata }, { cache }) =>
        Array.from(cache.informer(ControlPlane).byIndex(byClass.name, metadata.name!), (one) => ({
          name: one.metadata.name!,
        })),
    },
  ],
  concurrency: 4,
  reconcile: automaticReconciler(),
});

export const automaticReconciler =
  (): Reconciler =>
  async ({ name }, { client, signal }) => {
    const [controlPlane, there] = await Promise.all([
      find(client, ControlPlane, { name }),
      find(client, ControlPlaneRegistration, { name }),
    ]);
    const owner = controlPlane?.metadata.deletionTimestamp ? undefined : controlPlane;
    if (there?.metadata.deletionTimestamp || (there && !isAutomatic(there, name))) return;
    const isLeftOver = there && !(owner && isControlledBy(there, owner));
    if (isLeftOver) return remove(client, there, signal);
    if (!owner) return;
    const wanted = await wantedBy(client, owner);
    if (wanted === 'unknown') return;
    if (!wanted) return there && remove(client, there, signal);
    const spec = specOf(name, wanted);
    if (!there) {
      const metadata = { name, ownerReferences: [controllerReference(owner)] };
      await client.create(ControlPlaneRegistration, { metadata, spec }, { signal });
    } else if (!isAs(there.spec, spec)) {
      const { uid, resourceVersion } = there.metadata;
      const body = { metadata: { uid, resourceVersion }, spec };
      await client.patch(ControlPlaneRegistration, { name }, { type: 'merge', body }, { signal });
    }
  };

/** Reports whether it was created for a control plane of this name, by any incarnation of it. */
function isAutomatic(registration: ControlPlaneRegistration, controlPlane: string): boolean {
  const owner = controllerOf(registration);
  return owner?.kind === 'ControlPlane' && owner.name === controlPlane && owner.apiVersion.startsWith(`${group}/`);
}

/** `unknown`: the class does not exist. It may be recreated: the registration stays as it is. */
async function wantedBy(
  client: Client,
  controlPlane: ControlPlane,
): Promise<ClassRegistration | undefined | 'unknown'> {
  const { spec } = controlPlane;
  if (!spec?.classRef) return undefined;
  const found = await find(client, ControlPlaneClass, { name: spec.classRef.name });
  if (!found) return 'unknown';
  const { registration } = found.spec ?? {};
  if (!registration?.enabled) return undefined;
  if (!isServedDedicated(controlPlane)) return registration;
  const services = canonicalServices(registration.services ?? []);
  const others = services.filter((service) => !dedicatedServices.includes(service));
  // Nothing is left to do for others.
  if (services.length > 0 && others.length === 0) return undefined;
  return { ...registration, services: others };
}

const specOf = (name: string, { services = [], mode = 'Shared' }: ClassRegistration): ControlPlaneRegistrationSpec => ({
  controlPlaneRef: { name },
  services: canonicalServices(services),
  mode,
});

/** Ignores its endpoint and Secret: users set these. */
const isAs = (there: ControlPlaneRegistrationSpec, { controlPlaneRef, services, mode }: ControlPlaneRegistrationSpec) =>
  there.controlPlaneRef?.name === controlPlaneRef.name &&
  there.mode === mode &&
  isDeepStrictEqual(there.services ?? [], services);

async function remove(client: Client, registration: ControlPlaneRegistration, signal: AbortSignal): Promise<void> {
  const preconditions = { uid: registration.metadata.uid! };
  await client.delete(ControlPlaneRegistration, keyOf(registration), { preconditions, signal });
}
