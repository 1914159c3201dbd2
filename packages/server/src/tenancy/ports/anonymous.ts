/** Requests without credentials that the port of a tenant answers. */

import { anonymousHealth } from '../../auth/anonymous.ts';
import type { AnonymousAccess } from '../../auth/anonymous.ts';
import type { ServerRequest } from '../../http/message.ts';
import { splitTarget } from '../../request/query.ts';

/** A joining node verifies this object with its bootstrap token before it has credentials or a CA. */
const clusterInfoPath = '/api/v1/namespaces/kube-public/configmaps/cluster-info';

/** Requests by path require a credential. Health endpoints are public where the host name or the port selects the tenant. */
export const anonymousAtTenant: AnonymousAccess = (path, request) =>
  request.originalTarget === undefined &&
  (anonymousHealth(path, request) || (path === clusterInfoPath && isJoining(request)));

/** Reports whether the request reads `cluster-info` without credentials at the port of a tenant. Reading it may open the tenant. */
export const asksForClusterInfo = (request: ServerRequest): boolean =>
  splitTarget(request.target).path === clusterInfoPath && isJoining(request);

const isJoining = ({ method, peer }: ServerRequest): boolean => method === 'GET' && peer.portOwner !== undefined;
