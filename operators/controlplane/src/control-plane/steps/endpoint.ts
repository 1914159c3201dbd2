/**
 * Step 5: the addresses of the control plane: from the endpoint that it names, or from one that is allocated for it by creating it, which a
 * provider then fills (../../endpoint/README.md).
 */

import { find, keyOf } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { controllerReference, findCondition, isBeingDeleted, isControlledBy } from '@hangar/runtime';
import { annotations, builtinProvider, ControlPlaneEndpoint, labels } from '../../api/index.ts';
import type { AddressKind } from '../../api/index.ts';
import { resolveAddresses } from '../../endpoint/resolve.ts';
import type { ResolvedAddresses } from '../../endpoint/resolve.ts';
import { hostnameOf } from '../hostname.ts';
import { nodesOf } from '../nodes.ts';
import type { Pass, Verdict } from '../world.ts';

/** Time for a provider before a pending status is written. */
const providerMs = 1_000;

export async function endpoint(pass: Pass): Promise<Verdict | undefined> {
  const verdict = await resolved(pass);
  const before = verdict?.type === 'Programmed' ? addressesBefore(pass) : undefined;
  if (!before) return verdict;
  // Keeps the old addresses until there are new ones: its credentials must not expire meanwhile.
  pass.addresses = before;
  pass.deferred = verdict;
  return undefined;
}

function addressesBefore(pass: Pass): ResolvedAddresses | undefined {
  const { status } = pass.controlPlane;
  const url = (type: AddressKind) => status?.endpoints?.find((one) => one.type === type)?.url;
  const [internal, external, join] = [url('Internal'), url('External'), url('Join')];
  if (!internal || !external || !join) return undefined;
  // The address for nodes may be the port of the tenant, which is not an address of the endpoint.
  return { internal, external, join: nodesOf(pass) ? external : join };
}

async function resolved(pass: Pass): Promise<Verdict | undefined> {
  const { spec } = pass.controlPlane;
  const found = spec?.endpointRef ? await referred(pass, spec.endpointRef.name) : await allocated(pass);
  if ('reason' in found) return found;
  const ready = findCondition(found.status?.conditions, 'Ready');
  if (ready && ready.status !== 'True') {
    return pending(`ControlPlaneEndpoint "${found.metadata.name}" is not ready: ${ready.reason}: ${ready.message}`);
  }
  const addresses = resolveAddresses(found, pass.path);
  if (!addresses)
    return pending(
      `ControlPlaneEndpoint "${found.metadata.name}" has no address yet: set spec.endpoint, or wait for its provider`,
    );
  pass.addresses = addresses;
  // A join address was configured; the built-in provider sets none.
  pass.isJoinConfigured = Boolean(found.status?.joinEndpoint || found.spec?.joinEndpoint);
  pass.isJoinWanted = pass.isJoinConfigured;
  return undefined;
}

async function referred(pass: Pass, name: string): Promise<ControlPlaneEndpoint | Verdict> {
  const { client, signal, controlPlane } = pass;
  const own = controlPlane.metadata.name!;
  if (name !== own) await release(pass, own);
  const found = await find(client, ControlPlaneEndpoint, { name }, { signal });
  return found ?? pending(`ControlPlaneEndpoint "${name}" not found: create it, or change spec.endpointRef`);
}

/** Deletes an endpoint that was allocated before the control plane named another. */
async function release(pass: Pass, name: string): Promise<void> {
  const { client, controlPlane, world, signal } = pass;
  const found = await find(client, ControlPlaneEndpoint, { name }, { signal });
  if (!found || !isControlledBy(found, controlPlane) || isBeingDeleted(found)) return;
  const preconditions = { uid: found.metadata.uid! };
  await world.writes.make('endpoint-release', () =>
    client.delete(ControlPlaneEndpoint, { name }, { preconditions, signal }),
  );
}

async function allocated(pass: Pass): Promise<ControlPlaneEndpoint | Verdict> {
  const { client, apiReader, controlPlane, signal } = pass;
  const name = controlPlane.metadata.name!;
  const hostname = hostnameOf(controlPlane, pass.class);
  if (hostname === 'invalid') {
    return {
      type: 'Accepted',
      reason: 'InvalidHostname',
      message:
        'the host name template does not yield a valid host name for this control plane: change spec.endpointPolicy, or spec.gateway.hostnameTemplate of the class',
    };
  }
  const wanted = {
    labels: { [labels.endpointProvider]: controlPlane.spec?.endpointPolicy?.provider ?? builtinProvider },
    annotations: { [annotations.hostname]: hostname ?? '' },
  };
  const known = await find(client, ControlPlaneEndpoint, { name }, { signal });
  const isNew = !known && (await create(pass, name, wanted));
  if (isNew) return { ...pending(`created ControlPlaneEndpoint "${name}"`), isUnsaid: true, lookAgainMs: providerMs };
  const there = known ?? (await apiReader.get(ControlPlaneEndpoint, { name }, { signal }));
  if (isControlledBy(there, controlPlane)) return isBeingDeleted(there) ? ending(name) : kept(pass, there, wanted);
  if (isBeingDeleted(there)) return ending(name);
  return pending(
    `ControlPlaneEndpoint "${name}" already exists and does not belong to this control plane: set it in spec.endpointRef, or delete it`,
  );
}

type Wanted = { readonly labels: Record<string, string>; readonly annotations: Record<string, string> };

/** Returns false if it exists. */
async function create(pass: Pass, name: string, wanted: Wanted): Promise<boolean> {
  const { client, controlPlane, world, signal } = pass;
  const metadata = { name, ...wanted, ownerReferences: [controllerReference(controlPlane)] };
  try {
    await world.writes.make('endpoint', () => client.create(ControlPlaneEndpoint, { metadata, spec: {} }, { signal }));
    return true;
  } catch (error) {
    if (hasCode(error, 'AlreadyExists')) return false;
    throw error;
  }
}

/** Updates the desired state; leaves all other fields. */
async function kept(pass: Pass, there: ControlPlaneEndpoint, wanted: Wanted): Promise<ControlPlaneEndpoint> {
  const { client, world, signal } = pass;
  const has = (all: Record<string, string> | undefined, want: Record<string, string>): boolean =>
    Object.entries(want).every(([name, value]) => (all?.[name] ?? '') === value);
  if (has(there.metadata.labels, wanted.labels) && has(there.metadata.annotations, wanted.annotations)) return there;
  const body = { metadata: { uid: there.metadata.uid, ...wanted } };
  return world.writes.make('endpoint-wish', () =>
    client.patch(ControlPlaneEndpoint, keyOf(there), { type: 'merge', body }, { signal }),
  );
}

const pending = (message: string): Verdict => ({ type: 'Programmed', reason: 'EndpointPending', message });
const ending = (name: string): Verdict =>
  pending(`waiting for the deletion of ControlPlaneEndpoint "${name}" before creating it again`);
