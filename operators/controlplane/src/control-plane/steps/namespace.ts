/**
 * Step 3: the management namespace, owned by the control plane. A namespace of that name with another creator is not taken over: a user who
 * can create namespaces could otherwise read the credentials in it. Retained data of a dedicated control plane is adopted.
 */

import { find } from '@hangar/client';
import type { ObjectOf } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { controllerReference, isBeingDeleted, isControlledBy } from '@hangar/runtime';
import { labels, labelValue } from '../../api/index.ts';
import { adoptNamespace, isRetained } from '../../dedicated/retained.ts';
import type { Pass, Verdict } from '../world.ts';

type NamespaceObject = ObjectOf<typeof Namespace>;

const foreignLookMs = 60_000;

export async function namespace(pass: Pass): Promise<Verdict | undefined> {
  const { namespace: name, client, apiReader, signal } = pass;
  const known = await find(client, Namespace, { name }, { signal });
  if (known && isOurs(pass, known)) return verdictOn(known);
  const created = await create(pass);
  if (created) return undefined;
  // The cache was stale, or keeps only those with our label.
  const there = await find(apiReader, Namespace, { name }, { signal });
  if (!there)
    return {
      type: 'Programmed',
      reason: 'Bootstrapping',
      message: `namespace "${name}" was just deleted, retrying`,
      lookAgainMs: 1,
    };
  if (isOurs(pass, there)) return verdictOn(there);
  if (isLeftOver(pass, there)) return replaced(pass, there);
  if (!isBeingDeleted(there) && (await isRetained(pass, there))) return adopted(pass, there);
  return {
    type: 'Programmed',
    reason: 'NamespaceConflict',
    message: `namespace "${name}" already exists and does not belong to this control plane: delete it, or create a control plane with another name`,
    lookAgainMs: foreignLookMs,
  };
}

/** Only mode Dedicated can use the retained data of a dedicated control plane. */
async function adopted(pass: Pass, there: NamespaceObject): Promise<Verdict | undefined> {
  const { metadata, spec } = pass.controlPlane;
  const name = metadata.name!;
  const isRefused = spec?.retainedData === 'Refuse';
  if (spec?.mode === 'Dedicated' && !isRefused) {
    await adoptNamespace(pass, there);
    return undefined;
  }
  const use = isRefused ? 'choose another name' : 'create the control plane with mode Dedicated to use it';
  const message = `the data of a deleted control plane with mode Dedicated is retained under the name "${name}": ${use}, or destroy it with "hangar purge ${name}"`;
  return { type: 'Programmed', reason: 'RetainedDataConflict', message, lookAgainMs: foreignLookMs };
}

const labelOf = ({ controlPlane }: Pass): string => labelValue(controlPlane.metadata.name!);

function isOurs(pass: Pass, there: NamespaceObject): boolean {
  return isControlledBy(there, pass.controlPlane) && there.metadata.labels?.[labels.name] === labelOf(pass);
}

/** Reports whether it belonged to a deleted control plane of this name. */
const isLeftOver = ({ controlPlane }: Pass, { metadata }: NamespaceObject): boolean =>
  (metadata.ownerReferences ?? []).some(
    ({ kind, name, apiVersion }) =>
      kind === controlPlane.kind && name === controlPlane.metadata.name && apiVersion === controlPlane.apiVersion,
  );

const verdictOn = (there: NamespaceObject): Verdict | undefined =>
  isBeingDeleted(there) ? ending(there.metadata.name!) : undefined;

const ending = (name: string): Verdict => ({
  type: 'Programmed',
  reason: 'NamespaceTerminating',
  message: `waiting for the deletion of namespace "${name}" before creating it again`,
  lookAgainMs: 1_000,
});

async function create(pass: Pass): Promise<boolean> {
  const { namespace: name, controlPlane, client, world, signal } = pass;
  const metadata = {
    name,
    labels: { [labels.name]: labelOf(pass) },
    ownerReferences: [controllerReference(controlPlane)],
  };
  try {
    await world.writes.make('namespace', () => client.create(Namespace, { metadata }, { signal }));
    return true;
  } catch (error) {
    if (hasCode(error, 'AlreadyExists')) return false;
    throw error;
  }
}

/**
 * Deletes a leftover namespace: its content is useless, and the garbage collector would delete it, too. Restores the label of one of ours.
 */
async function replaced(pass: Pass, there: NamespaceObject): Promise<Verdict | undefined> {
  const { client, controlPlane, namespace: name, world, signal } = pass;
  const { uid, resourceVersion } = there.metadata;
  if (isControlledBy(there, controlPlane)) {
    const body = { metadata: { uid, resourceVersion, labels: { [labels.name]: labelOf(pass) } } };
    await world.writes.make('namespace-label', () =>
      client.patch(Namespace, { name }, { type: 'merge', body }, { signal }),
    );
    return verdictOn(there);
  }
  if (!isBeingDeleted(there)) {
    const preconditions = { uid: uid! };
    await world.writes.make('namespace-left-over', () => client.delete(Namespace, { name }, { preconditions, signal }));
  }
  return ending(name);
}
