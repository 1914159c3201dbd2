/**
 * Step 4: the mode that the control plane was created with, in an annotation of its management namespace. The data of the other mode would
 * be lost from view, so a change of the mode is refused while there is any. It is recorded before a HostedControlPlane is created.
 */

import { find } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { annotations } from '../api/index.ts';
import { isClaimedBy } from '../control-plane/claim.ts';
import type { Pass, Verdict } from '../control-plane/world.ts';
import { Tenant } from '../host/index.ts';
import { modeChange } from './acceptable.ts';
import { HostedControlPlane } from './hosted-control-plane.ts';

export async function recordedMode(pass: Pass): Promise<Verdict | undefined> {
  const isDedicated = pass.controlPlane.spec?.mode === 'Dedicated';
  if ((await isRecordedDedicated(pass)) === isDedicated) return undefined;
  if (isDedicated ? await hasTenant(pass) : await hasHosted(pass)) {
    return isDedicated ? modeChange('Virtual', 'Dedicated') : modeChange('Dedicated', 'Virtual');
  }
  const { client, namespace: name, world, signal } = pass;
  const body = { metadata: { annotations: { [annotations.mode]: isDedicated ? 'Dedicated' : null } } };
  await world.writes.make('mode', () => client.patch(Namespace, { name }, { type: 'merge', body }, { signal }));
  return undefined;
}

/** A namespace that is not cached yet was just created, without the annotation. */
export async function isRecordedDedicated({ client, namespace, signal }: Pass): Promise<boolean> {
  const there = await find(client, Namespace, { name: namespace }, { signal });
  return there?.metadata.annotations?.[annotations.mode] === 'Dedicated';
}

async function hasTenant({ world, path, controlPlane, signal }: Pass): Promise<boolean> {
  const tenant = await find(world.host.client, Tenant, { name: path }, { signal });
  return tenant !== undefined && isClaimedBy(tenant, controlPlane);
}

async function hasHosted({ apiReader, namespace, controlPlane, signal }: Pass): Promise<boolean> {
  const name = controlPlane.metadata.name!;
  return (await find(apiReader, HostedControlPlane, { namespace, name }, { signal })) !== undefined;
}
