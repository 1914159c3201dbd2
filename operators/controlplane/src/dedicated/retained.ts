/**
 * Data of dedicated control planes that were deleted with the policy Retain. The management namespace and the stopped HostedControlPlane in
 * it stay, without an owner, and the next ControlPlane of that name with mode Dedicated adopts them.
 *
 * A record in `kplane-system` has the uids of both. A namespace without a record is not adopted: a user who can create namespaces could
 * otherwise read the credentials in it.
 *
 *     retain   record ─► namespace without owner ─► HostedControlPlane without owner
 *     adopt    namespace owned ─► HostedControlPlane owned ─► record deleted ─► HostedControlPlane started
 */

import { find } from '@hangar/client';
import type { Client, ObjectOf } from '@hangar/client';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { controllerOf, controllerReference, isBeingDeleted, isControlledBy } from '@hangar/runtime';
import { annotations, labels, labelValue, retainedRecordName } from '../api/index.ts';
import { textOf } from '../control-plane/kept-secret.ts';
import type { Pass } from '../control-plane/world.ts';
import { systemNamespace } from '../kubeconfig/auth.ts';
import { HostedControlPlane, stoppedAnnotation } from './hosted-control-plane.ts';
import type { HostedControlPlaneObject } from './hosted-control-plane.ts';

type NamespaceObject = ObjectOf<typeof Namespace>;

export interface RetainedRecord {
  readonly namespaceUid: string;
  readonly hostedUid: string;
  /** RFC 3339. */
  readonly since: string;
  readonly version: string;
}

const recordKey = ({ controlPlane }: Pass) => ({
  namespace: systemNamespace,
  name: retainedRecordName(controlPlane.metadata.name!),
});

/** Reads from the server. */
export async function retainedRecord(pass: Pass): Promise<RetainedRecord | undefined> {
  const secret = await find(pass.apiReader, Secret, recordKey(pass), { signal: pass.signal });
  if (!secret || isBeingDeleted(secret)) return undefined;
  return {
    namespaceUid: textOf(secret, 'namespaceUid'),
    hostedUid: textOf(secret, 'hostedUid'),
    since: textOf(secret, 'since'),
    version: textOf(secret, 'version'),
  };
}

/** Keeps the namespace and the stopped HostedControlPlane of a control plane that is being deleted. The HostedControlPlane is last. */
export async function retain(pass: Pass, hosted: HostedControlPlaneObject): Promise<void> {
  const { apiReader, namespace, signal } = pass;
  const there = await find(apiReader, Namespace, { name: namespace }, { signal });
  if (!there) return;
  const known = await retainedRecord(pass);
  const wanted = {
    namespaceUid: there.metadata.uid!,
    hostedUid: hosted.metadata.uid!,
    since: hosted.metadata.annotations?.[annotations.retained] ?? new Date(pass.world.clock.now()).toISOString(),
    version: hosted.spec?.version ?? '',
  };
  if (known?.namespaceUid !== wanted.namespaceUid || known.hostedUid !== wanted.hostedUid) await record(pass, wanted);
  await release(pass, Namespace, there);
  await release(pass, HostedControlPlane, hosted);
}

const record = (pass: Pass, wanted: RetainedRecord): Promise<void> => {
  const { client, controlPlane, world, signal } = pass;
  const name = controlPlane.metadata.name!;
  return world.writes.make('retained-record', () => writeRetainedRecord(client, { name, record: wanted, signal }));
};

export interface RecordOptions {
  /** Of the control plane. */
  readonly name: string;
  readonly record: RetainedRecord;
  readonly signal: AbortSignal;
}

/** Replaces a record of data that was deleted. */
export async function writeRetainedRecord(
  client: Pick<Client, 'create' | 'patch'>,
  { name, record: wanted, signal }: RecordOptions,
): Promise<void> {
  const key = { namespace: systemNamespace, name: retainedRecordName(name) };
  const data = Object.fromEntries(
    Object.entries(wanted).map(([field, text]) => [field, Buffer.from(text).toString('base64')]),
  );
  const metadata = { ...key, labels: { [labels.retained]: labelValue(name) } };
  const create = (): Promise<unknown> => client.create(Secret, { metadata, type: 'Opaque', data }, { signal });
  try {
    await create();
  } catch (error) {
    if (hasCode(error, 'AlreadyExists')) {
      await client.patch(Secret, key, { type: 'merge', body: { data } }, { signal });
      return;
    }
    if (!hasCode(error, 'NotFound')) throw error;
    await client.create(Namespace, { metadata: { name: systemNamespace } }, { signal });
    await create();
  }
}

/** Removes the owner. Rejects with `Conflict` after a concurrent change. */
async function release(
  { client, controlPlane, world, signal }: Pass,
  kind: typeof Namespace | typeof HostedControlPlane,
  object: NamespaceObject | HostedControlPlaneObject,
): Promise<void> {
  if (!isControlledBy(object, controlPlane)) return;
  const { uid, resourceVersion, namespace, name, ownerReferences = [] } = object.metadata;
  const left = ownerReferences.filter((one) => one.uid !== controlPlane.metadata.uid);
  const body = { metadata: { uid, resourceVersion, ownerReferences: left } };
  await world.writes.make(`retain-${kind.plural}`, () =>
    client.patch(kind as typeof Namespace, { namespace, name: name! }, { type: 'merge', body }, { signal }),
  );
}

/** Reports whether a namespace holds retained data of the name of the control plane. */
export async function isRetained(pass: Pass, { metadata }: NamespaceObject): Promise<boolean> {
  if (metadata.annotations?.[annotations.mode] !== 'Dedicated' || controllerOf({ metadata })) return false;
  return (await retainedRecord(pass))?.namespaceUid === metadata.uid;
}

/** Makes the control plane the owner. Rejects with `Conflict` after a concurrent change: then the pass is repeated. */
export const adoptNamespace = (pass: Pass, there: NamespaceObject): Promise<unknown> => own(pass, Namespace, there);

/**
 * Makes the control plane the owner of a retained HostedControlPlane, deletes the record, and starts it. Undefined: it is not retained.
 * Each write can be repeated: the annotation is removed last.
 */
export async function adoptHosted(
  pass: Pass,
  there: HostedControlPlaneObject,
): Promise<HostedControlPlaneObject | undefined> {
  const { client, apiReader, controlPlane, world, signal } = pass;
  if (there.metadata.annotations?.[annotations.retained] === undefined) return undefined;
  const { namespace = '', name = '' } = there.metadata;
  const current = await apiReader.get(HostedControlPlane, { namespace, name }, { signal });
  let owned = current;
  const isOurs = isControlledBy(current, controlPlane);
  // The cache was stale.
  if (current.metadata.annotations?.[annotations.retained] === undefined) return isOurs ? current : undefined;
  if (!isOurs) {
    if (controllerOf(current) || (await retainedRecord(pass))?.hostedUid !== current.metadata.uid) return undefined;
    owned = (await own(pass, HostedControlPlane, current)) as HostedControlPlaneObject;
  }
  if (await retainedRecord(pass)) {
    await world.writes.make('retained-record-delete', () => client.delete(Secret, recordKey(pass), { signal }));
  }
  const { uid, resourceVersion } = owned.metadata;
  const started = { [annotations.retained]: null, [stoppedAnnotation]: null };
  const body = { metadata: { uid, resourceVersion, annotations: started } };
  return world.writes.make('hosted-control-plane-start', () =>
    client.patch(HostedControlPlane, { namespace, name }, { type: 'merge', body }, { signal }),
  );
}

function own(
  { client, controlPlane, world, signal }: Pass,
  kind: typeof Namespace | typeof HostedControlPlane,
  { metadata }: NamespaceObject | HostedControlPlaneObject,
): Promise<unknown> {
  const { uid, resourceVersion, namespace, name, ownerReferences = [] } = metadata;
  const owners = [...ownerReferences, controllerReference(controlPlane)];
  const body = { metadata: { uid, resourceVersion, ownerReferences: owners } };
  return world.writes.make(`adopt-${kind.plural}`, () =>
    client.patch(kind as typeof Namespace, { namespace, name: name! }, { type: 'merge', body }, { signal }),
  );
}
