/** Faults of the spec that the definition cannot detect, because they depend on the operator. */

import { asError } from '@hangar/core';
import { nthAddress } from '@hangar/node-objects';
import type { Fault } from '../fault.ts';
import type { Plane, Rendering } from '../render/index.ts';

export function specFault(plane: Plane, rendering: Rendering): Fault | undefined {
  return versionFault(plane, rendering) ?? networkFault(plane) ?? argumentFault(plane, rendering);
}

function networkFault({ network }: Plane): Fault | undefined {
  try {
    for (const cidr of [...network.serviceCidrs, ...network.podCidrs]) nthAddress(cidr, 1);
    return undefined;
  } catch (error) {
    return { reason: 'InvalidNetwork', message: `spec.clusterNetwork of the Cluster: ${asError(error).message}` };
  }
}

function versionFault({ version, spec }: Plane, { minors }: Rendering): Fault | undefined {
  if (version.major === 1 && minors.includes(version.minor)) return undefined;
  const [first, last] = [Math.min(...minors), Math.max(...minors)];
  const message = `spec.version ${spec.version} is not supported: this operator supports v1.${first} to v1.${last}`;
  return { reason: 'UnsupportedVersion', message };
}

function argumentFault(plane: Plane, rendering: Rendering): Fault | undefined {
  const { etcd, deployment = {} } = plane.spec;
  const settings = {
    etcd,
    'kube-apiserver': deployment.apiServer,
    'kube-controller-manager': deployment.controllerManager,
    'kube-scheduler': deployment.scheduler,
    'konnectivity-server': deployment.apiServer?.konnectivity,
  };
  const reserved = rendering.reserved(plane);
  for (const component of Object.keys(settings) as (keyof typeof settings)[]) {
    const wrong = Object.keys(settings[component]?.args ?? {}).filter((name) => reserved[component].includes(name));
    if (wrong.length === 0) continue;
    const message = `the arguments ${wrong.sort().join(', ')} of ${component} are set by the operator: remove them from spec`;
    return { reason: 'ReservedArgument', message };
  }
  return undefined;
}
