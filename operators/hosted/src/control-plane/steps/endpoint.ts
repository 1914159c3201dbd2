/** Phases APIServerService, SyncControlPlaneEndpoint and APIServerTLSRoutes: the address of the API server. */

import { find, keyOf } from '@hangar/client';
import { Node, Service } from '@hangar/client/kinds/core-v1';
import { HostedControlPlane } from '../../api/index.ts';
import type { ControlPlaneEndpoint } from '../../api/index.ts';
import { isFault } from '../../fault.ts';
import { apiServiceHost, apiServiceName } from '../../render/index.ts';
import { applyAll } from '../apply.ts';
import type { Pass, Verdict } from '../pass.ts';

export const apiServerService = (pass: Pass): Promise<Verdict | undefined> =>
  applyAll(pass, pass.rendering.apiService(pass.plane));

/** The address of the Cluster wins. Otherwise the Service determines it, once: it does not change afterwards. */
export async function syncControlPlaneEndpoint(pass: Pass): Promise<Verdict | undefined> {
  const { plane, hostedControlPlane, client, world, signal } = pass;
  const endpoint = plane.endpoint ?? (await serviceEndpoint(pass));
  if (isFault(endpoint)) return endpoint;
  pass.plane = { ...plane, endpoint };
  const { controlPlaneEndpoint } = hostedControlPlane.spec;
  if (controlPlaneEndpoint) {
    const isSame = controlPlaneEndpoint.host === endpoint.host && controlPlaneEndpoint.port === endpoint.port;
    const { host, port } = controlPlaneEndpoint;
    return isSame
      ? undefined
      : {
          reason: 'EndpointConflict',
          message: `spec.controlPlaneEndpoint is ${host}:${port}, but the Cluster has ${endpoint.host}:${endpoint.port}`,
        };
  }
  const { uid, resourceVersion } = hostedControlPlane.metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { controlPlaneEndpoint: endpoint } };
  pass.hostedControlPlane = await world.writes.make('endpoint', () =>
    client.patch(HostedControlPlane, keyOf(hostedControlPlane), { type: 'merge', body }, { signal }),
  );
  return undefined;
}

async function serviceEndpoint(pass: Pass): Promise<ControlPlaneEndpoint | Verdict> {
  const { plane, client, signal } = pass;
  const key = { namespace: plane.namespace, name: apiServiceName(plane) };
  const service = await find(client, Service, key, { signal });
  const quoted = `Service ${JSON.stringify(`${key.namespace}/${key.name}`)}`;
  if (!service)
    return { reason: 'WaitingForService', message: `${quoted} is not in the cache yet`, requeueAfterMs: 1000 };
  const { port } = plane;
  switch (plane.serviceType) {
    case 'LoadBalancer': {
      const [{ ip, hostname } = {}] = service.status?.loadBalancer?.ingress ?? [];
      const host = ip ?? hostname;
      return host
        ? { host, port }
        : { reason: 'WaitingForLoadBalancer', message: `${quoted} has no address of a load balancer yet` };
    }
    case 'NodePort': {
      const nodePort = service.spec?.ports?.[0]?.nodePort;
      const host = await nodeAddress(pass);
      if (!host) {
        const message = `${quoted} has type NodePort, but no node has an address`;
        return { reason: 'NodeAddressMissing', message, requeueAfterMs: 10_000 };
      }
      return nodePort
        ? { host, port: nodePort }
        : { reason: 'WaitingForService', message: `${quoted} has no node port yet` };
    }
    case 'ClusterIP':
      return { host: apiServiceHost(plane), port };
  }
}

/** The address of the first node by name that has one. */
async function nodeAddress({ apiReader, signal }: Pass): Promise<string | undefined> {
  const { items } = await apiReader.list(Node, { signal });
  const sorted = items.toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  for (const wanted of ['ExternalIP', 'InternalIP']) {
    for (const { status } of sorted) {
      const found = status?.addresses?.find(({ type }) => type === wanted);
      if (found) return found.address;
    }
  }
  return undefined;
}

export function apiServerTlsRoutes({ plane }: Pass): Verdict | undefined {
  const { gateway } = plane.spec;
  if (!gateway) return undefined;
  const name = JSON.stringify(`${gateway.namespace}/${gateway.name}`);
  return {
    reason: 'GatewayNotSupported',
    message: `Gateway ${name}: this version of the operator does not create TLSRoutes`,
  };
}
