/**
 * The addresses behind Services and names, computed from Services and the pods of this machine. EndpointSlices are not used: Kubernetes
 * rejects loopback addresses in them.
 */

import type { Pod, Service, ServicePort } from '@hangar/client/kinds/core-v1';

/** A pod of this machine, as Services select it. */
export interface LocalPod {
  readonly pod: Pod;
  readonly address: string;
  readonly isReady: boolean;
}

export interface Backend {
  readonly host: string;
  readonly port: number;
}

/** Pods that a Service selects and that may receive connections, oldest first. */
export function podsBehind(service: Service, pods: readonly LocalPod[]): LocalPod[] {
  return selectedPods(service, pods).filter(
    ({ isReady }) => isReady || service.spec?.publishNotReadyAddresses === true,
  );
}

/** Pods that a Service selects, ready or not. */
function selectedPods({ metadata, spec }: Service, pods: readonly LocalPod[]): LocalPod[] {
  const selector = Object.entries(spec?.selector ?? {});
  if (selector.length === 0) return [];
  return pods.filter(
    ({ pod }) =>
      pod.metadata.namespace === metadata.namespace &&
      selector.every(([key, value]) => pod.metadata.labels?.[key] === value),
  );
}

/** Returns the addresses that a connection to a port of a Service can be forwarded to. */
export function backendsOf(service: Service, port: ServicePort, pods: readonly LocalPod[]): Backend[] {
  return podsBehind(service, pods).flatMap(({ pod, address }) => {
    const number = targetPort(pod, port);
    return number === undefined ? [] : [{ host: address, port: number }];
  });
}

function targetPort(pod: Pod, { port, targetPort: target = port }: ServicePort): number | undefined {
  if (typeof target === 'number') return target === 0 ? port : target;
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return containers.flatMap(({ ports = [] }) => ports).find(({ name }) => name === target)?.containerPort;
}

export const isHeadless = ({ spec }: Service): boolean => spec?.clusterIP === 'None';

/** Reports whether connections to a Service are forwarded. */
export const isForwarded = (service: Service): boolean =>
  !isHeadless(service) && service.spec?.type !== 'ExternalName' && (service.spec?.clusterIP ?? '') !== '';

/** Names of Services and pods without their suffix: `etcd-0.etcd.team-a` → addresses. */
export function nameTable(
  services: Iterable<Service>,
  pods: readonly LocalPod[],
  addressOf: (service: Service) => string | undefined,
): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const service of services) {
    const { name, namespace } = service.metadata;
    if (!isHeadless(service)) {
      const address = addressOf(service);
      if (address !== undefined) names.set(`${name}.${namespace}`, [address]);
      continue;
    }
    const behind = podsBehind(service, pods);
    if (behind.length > 0)
      names.set(
        `${name}.${namespace}`,
        behind.map(({ address }) => address),
      );
    for (const { pod, address } of behind) {
      const { hostname, subdomain } = pod.spec ?? {};
      if (hostname && subdomain === name) names.set(`${hostname}.${subdomain}.${namespace}`, [address]);
    }
  }
  return names;
}

/** Returns the variables that the kubelet sets for the Services that a pod can use. */
export function serviceVariables(
  services: readonly Service[],
  addressOf: (service: Service) => string | undefined,
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const service of services) {
    const host = addressOf(service);
    const { ports = [] } = service.spec ?? {};
    if (host === undefined || ports.length === 0) continue;
    const prefix = variableName(service.metadata.name!);
    variables[`${prefix}_SERVICE_HOST`] = host;
    variables[`${prefix}_SERVICE_PORT`] = String(ports[0]!.port);
    variables[`${prefix}_PORT`] = linkOf(host, ports[0]!);
    for (const port of ports) {
      const protocol = port.protocol ?? 'TCP';
      if (port.name) variables[`${prefix}_SERVICE_PORT_${variableName(port.name)}`] = String(port.port);
      const link = `${prefix}_PORT_${port.port}_${protocol}`;
      variables[link] = linkOf(host, port);
      variables[`${link}_PROTO`] = protocol.toLowerCase();
      variables[`${link}_PORT`] = String(port.port);
      variables[`${link}_ADDR`] = host;
    }
  }
  return variables;
}

const variableName = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');

const linkOf = (host: string, { port, protocol = 'TCP' }: ServicePort): string =>
  `${protocol.toLowerCase()}://${host}:${port}`;
