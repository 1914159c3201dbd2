/** Network kinds: services, endpoints, ingresses, policies, addresses. */

import { isIPv6 } from 'node:net';
import { sortKeys } from '../../values/key-order.ts';
import { ageOf } from '../age.ts';
import { labelsText, none, selectorCell } from '../selector-text.ts';
import type { Labels, LabelSelector } from '../selector-text.ts';
import { firstOf, groupedName, printer, unknown, unset } from './printer.ts';
import type { Printers } from './printer.ts';

interface LoadBalancer {
  readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
}

interface Service {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly externalIPs?: readonly string[];
    readonly externalName?: string;
    readonly ports?: readonly { readonly port: number; readonly nodePort?: number; readonly protocol?: string }[];
    readonly selector?: Labels;
  };
  readonly status?: { readonly loadBalancer?: LoadBalancer };
}

interface Endpoints {
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly ip: string }[];
    readonly ports?: readonly { readonly port: number }[];
  }[];
}

interface EndpointSlice {
  readonly addressType?: string;
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[];
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
}

interface Ingress {
  readonly spec?: {
    readonly ingressClassName?: string;
    readonly rules?: readonly { readonly host?: string }[];
    readonly tls?: readonly object[];
  };
  readonly status?: { readonly loadBalancer?: LoadBalancer };
}

interface IngressClass {
  readonly spec?: {
    readonly controller?: string;
    readonly parameters?: { readonly apiGroup?: string; readonly kind: string; readonly name: string };
  };
}

interface IPAddress {
  readonly spec?: {
    readonly parentRef?: {
      readonly group?: string;
      readonly resource?: string;
      readonly namespace?: string;
      readonly name?: string;
    };
  };
}

function loadBalancerCell({ ingress = [] }: LoadBalancer = {}): string {
  const points = new Set(ingress.map(({ ip, hostname }) => ip || hostname || ''));
  points.delete('');
  return sortKeys([...points]).join(',');
}

function externalAddress({ spec = {}, status }: Service): string {
  const own = spec.externalIPs ?? [];
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return own.join(',') || none;
    case 'LoadBalancer':
      return [loadBalancerCell(status?.loadBalancer), ...own].filter((text) => text !== '').join(',') || '<pending>';
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return unknown;
  }
}

const portsCell = (ports: NonNullable<Service['spec']>['ports'] = []): string =>
  ports.map(({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol ?? ''}`).join(',') ||
  none;

const shownMax = 3;

function endpointsCell({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return none;
  let count = 0;
  const shown: string[] = [];
  for (const { addresses = [], ports = [] } of subsets) {
    // Headless services may have no ports.
    const suffixes = ports.length === 0 ? [undefined] : ports.map(({ port }) => port);
    for (const port of suffixes) {
      count += addresses.length;
      for (const { ip } of addresses.slice(0, shownMax - shown.length)) shown.push(hostPort(ip, port));
    }
  }
  return count > shownMax ? `${shown.join(',')} + ${count - shownMax} more...` : shown.join(',');
}

const hostPort = (ip: string, port: number | undefined): string =>
  port === undefined ? ip : isIPv6(ip) ? `[${ip}]:${port}` : `${ip}:${port}`;

/** Rules without a host are not shown, but counted among the remaining ones. */
function hostsCell(rules: readonly { readonly host?: string }[] = []): string {
  const shown: string[] = [];
  let seen = 0;
  for (const { host } of rules) {
    if (shown.length === shownMax) break;
    seen++;
    if (host) shown.push(host);
  }
  if (shown.length === 0) return '*';
  return seen < rules.length ? `${shown.join(',')} + ${rules.length - shownMax} more...` : shown.join(',');
}

function parametersCell({ spec }: IngressClass): string {
  const parameters = spec?.parameters;
  if (!parameters) return none;
  const { apiGroup, kind, name } = parameters;
  return `${apiGroup === undefined ? kind : `${kind}.${apiGroup}`}/${name}`;
}

function parentCell({ spec }: IPAddress): string {
  const parent = spec?.parentRef;
  if (!parent) return none;
  const resource = groupedName(parent.resource ?? '', parent.group).toLowerCase();
  return [resource, ...(parent.namespace ? [parent.namespace] : []), parent.name ?? ''].join('/');
}

export const networkPrinters: Printers = {
  '/Service': printer<Service>((service, now) => [
    service.metadata.name,
    service.spec?.type ?? '',
    service.spec?.clusterIPs?.[0] ?? (service.spec?.clusterIP || none),
    externalAddress(service),
    portsCell(service.spec?.ports),
    ageOf(service, now),
    labelsText(service.spec?.selector),
  ]),
  '/Endpoints': printer<Endpoints>((endpoints, now) => [
    endpoints.metadata.name,
    endpointsCell(endpoints),
    ageOf(endpoints, now),
  ]),
  'discovery.k8s.io/EndpointSlice': printer<EndpointSlice>((slice, now) => [
    slice.metadata.name,
    slice.addressType ?? '',
    firstOf(
      (slice.ports ?? []).map(({ port, name }) => String(port ?? name ?? '*')),
      shownMax,
    ) || unset,
    firstOf(
      (slice.endpoints ?? []).flatMap(({ addresses }) => addresses ?? []),
      shownMax,
    ) || unset,
    ageOf(slice, now),
  ]),
  'networking.k8s.io/Ingress': printer<Ingress>((ingress, now) => [
    ingress.metadata.name,
    ingress.spec?.ingressClassName ?? none,
    hostsCell(ingress.spec?.rules),
    loadBalancerCell(ingress.status?.loadBalancer),
    (ingress.spec?.tls?.length ?? 0) > 0 ? '80, 443' : '80',
    ageOf(ingress, now),
  ]),
  'networking.k8s.io/IngressClass': printer<IngressClass>((ingressClass, now) => {
    const { name, annotations } = ingressClass.metadata;
    const isDefault = annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';
    return [
      isDefault ? `${name} (default)` : name,
      ingressClass.spec?.controller ?? '',
      parametersCell(ingressClass),
      ageOf(ingressClass, now),
    ];
  }),
  'networking.k8s.io/NetworkPolicy': printer<{ spec?: { podSelector?: LabelSelector } }>((policy, now) => [
    policy.metadata.name,
    selectorCell(policy.spec?.podSelector),
    ageOf(policy, now),
  ]),
  'networking.k8s.io/ServiceCIDR': printer<{ spec?: { cidrs?: readonly string[] } }>((range, now) => [
    range.metadata.name,
    (range.spec?.cidrs ?? []).join(','),
    ageOf(range, now),
  ]),
  // kube-apiserver sends an age without a declared column.
  'networking.k8s.io/IPAddress': printer<IPAddress>((address, now) => [
    address.metadata.name,
    parentCell(address),
    ageOf(address, now),
  ]),
};
