/** Deletes the objects of a control plane in the management plane: registrations, its endpoint, its Secrets, its routes, its namespace. */

import { find, keyOf } from '@hangar/client';
import type { ApiObject, Kind, ObjectKey } from '@hangar/client';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { isBeingDeleted, isControlledBy } from '@hangar/runtime';
import { ControlPlaneEndpoint, ControlPlaneRegistration, kubeconfigSecretName } from '../api/index.ts';
import type { Pass } from '../control-plane/world.ts';
import { routesLeft } from '../gateway/leftovers.ts';
import { joinSecretName } from '../join/material.ts';
import { ofControlPlane } from '../registration/indexes.ts';

export async function endLeftovers(pass: Pass): Promise<void> {
  const { controlPlane, cache, namespace } = pass;
  const name = controlPlane.metadata.name!;
  const registrations = Array.from(ofControlPlane(cache, name));
  const routes = await routesLeft(pass);
  await Promise.all([
    ...registrations.map((one) => end(pass, ControlPlaneRegistration, one)),
    ...(routes?.items ?? []).map((one) => end(pass, routes!.kind, one)),
    endNamed(pass, ControlPlaneEndpoint, { name }),
    endNamed(pass, Secret, { namespace, name: kubeconfigSecretName(name) }),
    endNamed(pass, Secret, { namespace, name: joinSecretName(name) }),
  ]);
  await endNamed(pass, Namespace, { name: namespace });
}

/** Reads from the server: an object that a cache has not seen yet must not stay behind. */
async function endNamed<T extends ApiObject>(pass: Pass, kind: Kind<T>, key: ObjectKey): Promise<void> {
  const there = await find(pass.apiReader, kind, key, { signal: pass.signal });
  if (there) await end(pass, kind, there);
}

/** Deletes it only if it belongs to this control plane. */
async function end<T extends ApiObject>(pass: Pass, kind: Kind<T>, there: T): Promise<void> {
  const { client, controlPlane, world, signal } = pass;
  if (!isControlledBy(there, controlPlane) || isBeingDeleted(there)) return;
  const preconditions = { uid: there.metadata.uid! };
  await world.writes.make(`delete.${kind.plural}`, () => client.delete(kind, keyOf(there), { preconditions, signal }));
}
