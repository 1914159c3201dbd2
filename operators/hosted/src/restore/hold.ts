/** Holds phases of the reconciler while a restore is in progress: the restore scales workloads and uses volumes itself. */

import { keyOf } from '@hangar/client';
import type { Pass, Step, Verdict } from '../control-plane/pass.ts';
import { holdOf, restoreStateOf } from './state.ts';
import type { RestoreHold } from './state.ts';

/** Returns the step, which waits during a restore that holds it. */
export const heldBy =
  (holds: readonly RestoreHold[], step: Step): Step =>
  (pass) => {
    const hold = holdOf(pass.hostedControlPlane);
    return hold !== undefined && holds.includes(hold) ? held(pass) : step(pass);
  };

/** etcd is stopped or has other data soon: nothing is measured or repaired meanwhile. */
function held({ world, hostedControlPlane }: Pass): Verdict {
  const { namespace = '', name } = keyOf(hostedControlPlane);
  world.etcdCare.forget({ namespace, name });
  const state = restoreStateOf(hostedControlPlane);
  const message =
    state === 'malformed'
      ? 'the annotation of the restore cannot be read: remove it if no restore is in progress'
      : `a restore is in progress: phase ${state?.phase}`;
  return { reason: 'Restoring', message };
}
