/** The endpoint of a control plane at the front door: a host name that no other control plane has. */

import type { ControlPlaneEndpoint } from '../../api/index.ts';
import { byCreation, candidateHosts, hostFault, withKonnectivity } from '../../front-door/hosts.ts';
import type { Pass, Verdict } from '../pass.ts';

/** The deletion of another control plane is not an event of this one. */
const conflictRetryMs = 30_000;

/** Records in `pass.route` whether the host name belongs to the control plane. */
export function frontDoorEndpoint(pass: Pass): ControlPlaneEndpoint | Verdict {
  const { plane, world } = pass;
  const { frontDoor } = world;
  if (!frontDoor) {
    const message =
      'the control plane is exposed at the front door, but the operator has no domain for it: set --front-door-domain';
    return { reason: 'FrontDoorMissing', message };
  }
  const { settings } = frontDoor;
  const candidates = candidateHosts({ ...plane, host: plane.spec.frontDoor?.host }, settings);
  const given = plane.endpoint;
  const host = given?.host ?? candidates[0]!;
  if (!candidates.includes(host)) {
    const message = `the endpoint of the control plane is ${host}, but its host name at the front door is ${candidates.join(' or ')}`;
    return { reason: 'EndpointConflict', message };
  }
  const fault = hostFault(host, plane.namespace, settings) ?? conflictFault(pass, host);
  pass.route = fault ? 'none' : { host };
  return fault ?? { host, port: given?.port ?? settings.port };
}

function conflictFault({ hostedControlPlane, world }: Pass, host: string): Verdict | undefined {
  const { uid, namespace } = hostedControlPlane.metadata;
  for (const name of withKonnectivity(host)) {
    const claimants = [...world.frontDoor!.claimants(name)].filter(({ metadata }) => metadata.uid !== uid);
    const [first] = [hostedControlPlane, ...claimants].sort(byCreation);
    if (first === hostedControlPlane) continue;
    // Names of control planes in other namespaces are not shown.
    const isVisible = first!.metadata.namespace === namespace;
    const holder = isVisible ? `HostedControlPlane ${JSON.stringify(first!.metadata.name)}` : 'another control plane';
    const message = `the host name ${name} belongs to ${holder}, which was created earlier: create the control plane with another spec.frontDoor.host`;
    return { reason: 'HostConflict', message, requeueAfterMs: conflictRetryMs };
  }
  return undefined;
}
