/** Computes the desired route of a control plane, from its class and its addresses. Pure. */

import { labels, labelValue, routeName } from '../api/index.ts';
import type { ControlPlane, ControlPlaneClass, GatewayReference } from '../api/index.ts';
import { hostsOf } from '../control-plane/hosts.ts';
import type { ResolvedAddresses } from '../endpoint/resolve.ts';
import { sortedNames } from './allowed-names.ts';
import { gatewayGroup } from './tls-route.ts';
import type { TlsRoute, TlsRouteSpec } from './tls-route.ts';

export interface WantedRoute {
  readonly key: { readonly namespace: string; readonly name: string };
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: TlsRouteSpec;
  /** The Gateway that it is attached to. */
  readonly parent: GatewayReference;
  /** Host names of the control plane that are not in the domain of its class, and so not in the route. */
  readonly notAllowed: readonly string[];
}

/** A route is desired, but something is missing for it. */
export interface Missing {
  readonly reason: 'HostnameMissing' | 'HostnameNotAllowed' | 'APIServerRefMissing';
  readonly message: string;
}

const managedBy = { 'app.kubernetes.io/managed-by': 'hangar-operator' } as const;
const portOfServer = 6443;

export interface RouteFacts {
  readonly controlPlane: ControlPlane;
  readonly class?: ControlPlaneClass | undefined;
  readonly addresses?: ResolvedAddresses;
}

/** Undefined: the class has no Gateway, so there is no route. */
export function wantedRoute(facts: RouteFacts): WantedRoute | Missing | undefined {
  const { parentRef, apiServerRef } = facts.class?.spec?.gateway ?? {};
  if (!parentRef) return undefined;
  if (!apiServerRef) {
    const what = `ControlPlaneClass "${facts.class!.metadata.name}" has spec.gateway.parentRef but no spec.gateway.apiServerRef`;
    return { reason: 'APIServerRefMissing', message: `${what}: set it to the Service of the API server` };
  }
  // Only the host names of the tenant: any other name would lead to the management plane.
  const names = hostsOf(facts.addresses!);
  if (names.length === 0) {
    const how = 'set spec.gateway.hostnameTemplate of the class, or spec.endpointPolicy.hostname';
    return { reason: 'HostnameMissing', message: `the control plane has no host name to route: ${how}` };
  }
  const { allowed, others } = sortedNames(names, facts.controlPlane, facts.class);
  if (allowed.length === 0) return { reason: 'HostnameNotAllowed', message: notAllowedText(others, facts.class!) };
  const { name } = facts.controlPlane.metadata;
  const { namespace = parentRef.namespace, port = portOfServer } = apiServerRef;
  const backend = { group: '', kind: 'Service', name: apiServerRef.name, port };
  return {
    key: { namespace, name: routeName(name!) },
    labels: { [labels.name]: labelValue(name!), ...managedBy },
    spec: {
      parentRefs: [{ group: gatewayGroup, kind: 'Gateway', name: parentRef.name, namespace: parentRef.namespace }],
      hostnames: allowed,
      rules: [{ backendRefs: [backend] }],
    },
    parent: parentRef,
    notAllowed: others,
  };
}

export function notAllowedText(names: readonly string[], { metadata, spec }: ControlPlaneClass): string {
  const domain = `spec.gateway.hostnameTemplate of ControlPlaneClass "${metadata.name}" is "${spec?.gateway?.hostnameTemplate}"`;
  return `host names not allowed: ${names.join(', ')}: ${domain}, and only host names in its domain are routed`;
}

/** Ignores other fields: servers add defaults, others add labels and fields. */
export const isAsWanted = ({ metadata, spec }: TlsRoute, wanted: WantedRoute): boolean =>
  covers(metadata.labels, wanted.labels) && covers(spec, wanted.spec);

function covers(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(there) && there.length === wanted.length && wanted.every((one, at) => covers(there[at], one));
  }
  if (typeof wanted !== 'object' || wanted === null) return there === wanted;
  if (typeof there !== 'object' || there === null) return false;
  const fields = there as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([name, value]) => covers(fields[name], value));
}
