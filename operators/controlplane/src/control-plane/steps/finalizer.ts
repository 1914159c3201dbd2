/** 2. Nothing is made for a control plane that could go without being taken leave of. */

import { ensureFinalizer, hasFinalizer } from '@hangar/runtime';
import { ControlPlane, finalizer } from '../../api/index.ts';
import type { Pass } from '../world.ts';

export async function addFinalizer(pass: Pass): Promise<undefined> {
  const { controlPlane, client, world, signal } = pass;
  if (hasFinalizer(controlPlane, finalizer)) return;
  pass.controlPlane = await world.writes.make('finalizer', () =>
    ensureFinalizer(client, ControlPlane, controlPlane, finalizer, { signal }),
  );
}
