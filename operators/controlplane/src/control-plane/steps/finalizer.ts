/** Step 2: the finalizer, set before anything is created for the control plane, so that a deletion cleans up. */

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
