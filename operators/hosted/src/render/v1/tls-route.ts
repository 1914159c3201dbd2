/** The routes from a Gateway to the API servers and to the konnectivity servers beside them. TLS passes through: clients verify the certificate of the API server. */

import { gatewayGroup, tlsRouteKind } from '../../gateway/kinds.ts';
import type { TlsRouteVersion } from '../../gateway/kinds.ts';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import { apiServiceName, workloadName } from '../names.ts';
import type { Plane } from '../plane.ts';
import { ports } from './defaults.ts';
import { konnectivityHost } from './konnectivity.ts';
import { metadataOf } from './workload.ts';

export function tlsRoutes(plane: Plane, version: TlsRouteVersion): Rendered[] {
  const { gateway } = plane.spec;
  if (!gateway) return [];
  const parent = { group: gatewayGroup, kind: 'Gateway', namespace: gateway.namespace, name: gateway.name };
  const { host } = plane.endpoint!;
  const route = (name: string, hostname: string, port: number): Rendered => {
    const backend = { group: '', kind: 'Service', name: apiServiceName(plane), port };
    return rendered(tlsRouteKind(version), {
      metadata: metadataOf(plane, name, 'kube-apiserver'),
      spec: { parentRefs: [parent], hostnames: [hostname], rules: [{ backendRefs: [backend] }] },
    });
  };
  const name = workloadName(plane, 'kube-apiserver');
  return [
    route(name, host, plane.port),
    ...(plane.hasKonnectivity ? [route(`${name}-konnectivity`, konnectivityHost(host), ports.konnectivityAgents)] : []),
  ];
}
