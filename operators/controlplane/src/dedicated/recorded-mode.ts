/**
 * Step 4: the mode that serves the control plane, in an annotation of its management namespace. It is recorded before a HostedControlPlane is
 * created, and after the switch of a migration. It remains when the status is lost.
 */

import { find } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { annotations } from '../api/index.ts';
import type { Pass } from '../control-plane/world.ts';

export async function recordedMode(pass: Pass): Promise<undefined> {
  const isDedicated = pass.mode === 'Dedicated';
  if ((await isRecordedDedicated(pass)) === isDedicated) return;
  const { client, namespace: name, world, signal } = pass;
  const body = { metadata: { annotations: { [annotations.mode]: isDedicated ? 'Dedicated' : null } } };
  await world.writes.make('mode', () => client.patch(Namespace, { name }, { type: 'merge', body }, { signal }));
}

/** A namespace that is not cached yet was just created, without the annotation. */
export async function isRecordedDedicated({ client, namespace, signal }: Pass): Promise<boolean> {
  const there = await find(client, Namespace, { name: namespace }, { signal });
  return there?.metadata.annotations?.[annotations.mode] === 'Dedicated';
}
