/** Holds phases of the reconciler until the etcd of a replica has its data, its fence, and is writable. */

import { replicaHoldOf, replicaStateOf } from '../api/index.ts';
import type { ReplicaHold } from '../api/index.ts';
import type { Pass, Step, Verdict } from '../control-plane/pass.ts';

/** Returns the step, which waits while the replica holds it. */
export const heldByReplica =
  (holds: readonly ReplicaHold[], step: Step): Step =>
  (pass) => {
    const hold = replicaHoldOf(pass.hostedControlPlane);
    return hold !== undefined && holds.includes(hold) ? replicating(pass) : step(pass);
  };

const messages = {
  Preparing: 'waiting for the keys and the snapshot of the tenant',
  Seeding: 'waiting for etcd to have the data of the tenant and its fence',
  Fenced: 'the control plane is a replica: API servers can only read, and controllers start when it is activated',
  Active: '',
};

export function replicating({ hostedControlPlane }: Pick<Pass, 'hostedControlPlane'>): Verdict {
  const state = replicaStateOf(hostedControlPlane);
  const message =
    state === 'malformed' ? 'the annotation of the replica cannot be read' : messages[state?.phase ?? 'Preparing'];
  return { reason: 'Replicating', message };
}
