/**
 * Decides whether requests may be proxied to an aggregated server: its service must exist, listen on the port, have ready endpoints, and
 * answer for its group-version. Reasons and messages are those of kube-aggregator.
 */

import type { KubeObject } from '@hangar/api';
import { asError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { outboundError } from '../outbound/errors.ts';
import { discoveryPath } from './api-service.ts';
import type { RemoteService } from './api-service.ts';
import { identityHeaders } from './headers.ts';
import { askRemote } from './remote-server.ts';
import type { RemoteServer } from './remote-server.ts';

export interface Availability {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The part of a Service that is used here. */
export interface ServicePart {
  readonly type: string;
  readonly ports: readonly { readonly name: string; readonly port: number }[];
}

/** The part of an EndpointSlice that is used here. */
export interface SlicePart {
  /** `namespace/name`. */
  readonly service: string;
  readonly hasReady: boolean;
  /** Addresses of ready endpoints. */
  readonly addresses: readonly string[];
  readonly portNames: readonly string[];
}

export function servicePart(object: KubeObject): ServicePart {
  const { type = 'ClusterIP', ports = [] } = (object['spec'] ?? {}) as {
    type?: string;
    ports?: { name?: string; port: number }[];
  };
  return { type, ports: ports.map(({ name = '', port }) => ({ name, port })) };
}

export function slicePart(object: KubeObject): SlicePart {
  const { endpoints, ports } = object as KubeObject & {
    endpoints?: { addresses?: string[]; conditions?: { ready?: boolean } }[] | null;
    ports?: { name?: string; port?: number }[] | null;
  };
  const { namespace = '', labels } = object.metadata;
  const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  return {
    service: `${namespace}/${labels?.['kubernetes.io/service-name'] ?? ''}`,
    hasReady: ready.length > 0,
    addresses: ready.flatMap((one) => one.addresses ?? []),
    portNames: (ports ?? []).flatMap(({ name = '', port }) => (port === undefined ? [] : [name])),
  };
}

export interface ClusterView {
  /** Keyed by `namespace/name`. */
  readonly services: ReadonlyMap<string, ServicePart>;
  readonly slices: ReadonlyMap<string, SlicePart>;
}

/** Returns the cluster state that the availability of a service depends on. While it is unchanged, no new check is needed. */
export function circumstancesOf({ service }: RemoteService, { services, slices }: ClusterView): string {
  const id = `${service.namespace}/${service.name}`;
  return JSON.stringify([services.get(id), [...slices.values()].filter((one) => one.service === id)]);
}

export const local: Availability = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

const passed: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };
const failed = (reason: string, message: string): Availability => ({ status: 'False', reason, message });

/** Returns the problem that the objects show; undefined if the server can be probed. */
export function problemOf({ service }: RemoteService, { services, slices }: ClusterView): Availability | undefined {
  const { namespace, name, port } = service;
  const id = `${namespace}/${name}`;
  const found = services.get(id);
  if (!found) return failed('ServiceNotFound', `service/${name} in "${namespace}" is not present`);
  if (found.type !== 'ClusterIP') return undefined;
  const servicePort = found.ports.find((one) => one.port === port);
  if (!servicePort) {
    return failed('ServicePortError', `service/${name} in "${namespace}" is not listening on port ${port}`);
  }
  const own = [...slices.values()].filter((one) => one.service === id);
  if (own.length === 0) {
    return failed('EndpointsNotFound', `cannot find endpointslices for service/${name} in "${namespace}"`);
  }
  if (own.some((one) => one.hasReady && one.portNames.includes(servicePort.name))) return undefined;
  return failed(
    'MissingEndpoints',
    `endpointslices for service/${name} in "${namespace}" have no addresses with port name "${servicePort.name}"`,
  );
}

/** Identity of the aggregator for its own requests. */
export const aggregatorUser = {
  name: 'system:kube-aggregator',
  uid: '',
  groups: ['system:masters'],
  extra: {},
};

const checkTimeoutMs = 5_000;
const answerBytesMax = 4 * 1024 * 1024;

/** Requests the discovery document that the server must serve. Never rejects. */
export async function probe(server: RemoteServer, remote: RemoteService, clock: Clock): Promise<Availability> {
  const path = discoveryPath(remote);
  let url = path;
  try {
    url = await server.url(path);
    const { status } = await within(clock, checkTimeoutMs, (signal) =>
      askRemote(
        server,
        { method: 'GET', target: path, headers: identityHeaders(aggregatorUser) },
        { bytesMax: answerBytesMax, signal },
      ),
    );
    if (status >= 200 && status < 300) return passed;
    return failed('FailedDiscoveryCheck', `failing or missing response from ${url}: bad status from ${url}: ${status}`);
  } catch (error) {
    const { message } = outboundError(asError(error));
    return failed('FailedDiscoveryCheck', `failing or missing response from ${url}: Get "${url}": ${message}`);
  }
}

/** Calls `run` with a signal that aborts after `timeoutMs`. */
export async function within<T>(clock: Clock, timeoutMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const timer = clock.after(timeoutMs, () => stop.abort());
  try {
    return await run(stop.signal);
  } finally {
    timer.cancel();
  }
}
