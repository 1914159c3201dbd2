/** The route from a Gateway to the API servers. TLS passes through: clients verify the certificate of the API server. */

import { gatewayGroup, tlsRouteKind } from '../../gateway/kinds.ts';
import type { TlsRouteVersion } from '../../gateway/kinds.ts';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import { apiServiceName, workloadName } from '../names.ts';
import type { Plane } from '../plane.ts';
import { metadataOf } from './workload.ts';

export function tlsRoutes(plane: Plane, version: TlsRouteVersion): Rendered[] {
  const { gateway } = plane.spec;
  if (!gateway) return [];
  const parent = { group: gatewayGroup, kind: 'Gateway', namespace: gateway.namespace, name: gateway.name };
  const backend = { group: '', kind: 'Service', name: apiServiceName(plane), port: plane.port };
  return [
    rendered(tlsRouteKind(version), {
      metadata: metadataOf(plane, workloadName(plane, 'kube-apiserver'), 'kube-apiserver'),
      spec: { parentRefs: [parent], hostnames: [plane.endpoint!.host], rules: [{ backendRefs: [backend] }] },
    }),
  ];
}
