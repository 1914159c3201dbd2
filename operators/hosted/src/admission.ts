/**
 * The validating webhook of HostedControlPlanes: faults of the spec that the definition cannot detect, because they depend on the operator.
 * It is optional: without it, the condition Ready reports the same faults.
 */

import { isDeepStrictEqual } from 'node:util';
import { denied, validating } from '@hangar/runtime/webhooks';
import type { AdmissionHook } from '@hangar/runtime/webhooks';
import { annotations, HostedControlPlane } from './api/index.ts';
import { specFault } from './control-plane/spec-fault.ts';
import { newestRendering, planeOf, renderings } from './render/index.ts';

export const hostedWebhooks = (): AdmissionHook[] => [
  validating(HostedControlPlane, {
    create: ({ object }) => check(object),
    // An object with a fault can still be paused, labelled and deleted.
    update: ({ object, oldObject }) => (isDeepStrictEqual(object.spec, oldObject.spec) ? undefined : check(object)),
  }),
];

/** Throws `Denied`. The network of the Cluster is not known here. */
function check(object: HostedControlPlane): void {
  const noted = object.metadata.annotations?.[annotations.rendering];
  const rendering = renderings.get(noted ?? newestRendering) ?? renderings.get(newestRendering)!;
  const { name = '' } = object.metadata;
  const plane = planeOf(object, { name, serviceType: 'LoadBalancer' });
  const fault = specFault(plane, rendering);
  if (fault) throw denied(fault.message);
}
