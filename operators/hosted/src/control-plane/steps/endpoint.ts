/** Phases APIServerService, SyncControlPlaneEndpoint and APIServerTLSRoutes: the address of the API server. */

import { find, keyOf } from '@hangar/client';
import { Node, Service } from '@hangar/client/kinds/core-v1';
import { findCondition, isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane } from '../../api/index.ts';
import type { ControlPlaneEndpoint, GatewayReference } from '../../api/index.ts';
import { isFault } from '../../fault.ts';
import type { Fault } from '../../fault.ts';
import { Gateway } from '../../gateway/kinds.ts';
import type { TlsRoute } from '../../gateway/kinds.ts';
import { gatewayEndpoint } from '../../gateway/listener.ts';
import { apiServiceHost, apiServiceName } from '../../render/index.ts';
import { applyAll, applyObject } from '../apply.ts';
import type { Pass, Verdict } from '../pass.ts';
import { frontDoorEndpoint } from './front-door.ts';

export const apiServerService = (pass: Pass): Promise<Verdict | undefined> =>
  applyAll(pass, pass.rendering.apiService(pass.plane));

/** The address of the Cluster wins. Otherwise the Service determines it, once: it does not change afterwards. */
export async function syncControlPlaneEndpoint(pass: Pass): Promise<Verdict | undefined> {
  const { plane, hostedControlPlane, client, world, signal } = pass;
  const isAtFrontDoor = plane.exposure === 'front-door';
  if (!isAtFrontDoor) pass.route = 'none';
  const endpoint = isAtFrontDoor ? frontDoorEndpoint(pass) : (plane.endpoint ?? (await serviceEndpoint(pass)));
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
  if (plane.spec.gateway) return endpointOfGateway(pass, plane.spec.gateway);
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

/** Gateways are not cached: the endpoint is read once. */
async function endpointOfGateway(
  { plane, apiReader, world, signal }: Pass,
  reference: GatewayReference,
): Promise<ControlPlaneEndpoint | Verdict> {
  if (!world.tlsRouteVersion) return gatewayApiMissing;
  const { namespace, name } = reference;
  const gateway = await find(apiReader, Gateway, { namespace, name }, { signal });
  const endpoint = gatewayEndpoint(plane, reference, gateway);
  return isFault(endpoint) ? { ...endpoint, requeueAfterMs: 30_000 } : endpoint;
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

/** A route that the Gateway does not accept yet does not stop the later phases: clients inside the management cluster do not use it. */
export async function apiServerTlsRoutes(pass: Pass): Promise<Verdict | undefined> {
  const { plane, rendering, world } = pass;
  const { gateway } = plane.spec;
  if (!gateway) return undefined;
  if (!world.tlsRouteVersion) return gatewayApiMissing;
  const faults: Fault[] = [];
  for (const route of rendering.tlsRoutes(plane, world.tlsRouteVersion)) {
    const applied = await applyObject<TlsRoute>(pass, route);
    const fault = isFault(applied) ? applied : routeFault(applied, gateway);
    if (fault) faults.push(fault);
  }
  return faults[0] && { ...faults[0], isPartial: true };
}

function routeFault({ metadata, status }: TlsRoute, gateway: GatewayReference): Fault | undefined {
  const parents = status?.parents ?? [];
  if (parents.some(({ conditions }) => isConditionTrue(conditions, 'Accepted'))) return undefined;
  const refused = parents
    .map(({ conditions }) => findCondition(conditions, 'Accepted'))
    .find((one) => one !== undefined);
  const name = JSON.stringify(`${gateway.namespace}/${gateway.name}`);
  return {
    reason: 'RouteNotAccepted',
    message: `Gateway ${name} has not accepted TLSRoute ${JSON.stringify(metadata.name)}${refused ? `: ${refused.message}` : ''}`,
  };
}

const gatewayApiMissing: Verdict = {
  reason: 'GatewayAPIMissing',
  message: 'spec.gateway is set, but the Gateway API with TLSRoutes is not installed',
};
