/** konnectivity inside a control plane: agents, and the permission of the servers to review their tokens. */

import type { Service } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { konnectivityAgentObjects } from '@hangar/node-objects';
import { endpointUrl } from '../endpoint-url.ts';
import {
  imageOf,
  konnectivity,
  konnectivityHost,
  konnectivityServicePort,
  konnectivityUser,
  rendered,
} from '../render/index.ts';
import type { Plane, Rendered } from '../render/index.ts';
import { podSettings } from './pod-settings.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

/**
 * Returns the URL that agents connect to: a separate host name at the port of a Gateway or of the front door, the node port, or the port of the Service.
 * Undefined: the Service has no node port yet.
 */
export function konnectivityUrl(
  { exposure, serviceType, endpoint }: Plane,
  service: Service | undefined,
): string | undefined {
  const { host, port } = endpoint!;
  if (exposure !== 'service') return endpointUrl({ host: konnectivityHost(host), port });
  if (serviceType !== 'NodePort') return endpointUrl({ host, port: konnectivityServicePort.port });
  const nodePort = service?.spec?.ports?.find(({ name }) => name === konnectivityServicePort.name)?.nodePort;
  return nodePort === undefined ? undefined : endpointUrl({ host, port: nodePort });
}

/** `server`: the URL that agents connect to. */
export function konnectivityObjects({ spec }: Plane, server: string): Rendered[] {
  const { konnectivityClient: settings = {} } = spec;
  const image = imageOf(settings.image, { repository: konnectivity.agent, tag: konnectivity.tag });
  const { args, replicas } = settings;
  return [
    rendered(ClusterRoleBinding, {
      metadata: { name: konnectivityUser },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'system:auth-delegator' },
      subjects: [{ kind: 'User', apiGroup: rbacGroup, name: konnectivityUser }],
    }),
    ...konnectivityAgentObjects({ ...podSettings(settings), args, image, server, replicas }),
  ];
}
