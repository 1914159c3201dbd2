/**
 * Resolves the addresses of a control plane from its endpoint. For each of the three addresses: the status (observed by a provider), else
 * the spec (desired); external falls back to internal, join to external. Empty counts as absent.
 *
 * The internal address selects a control plane by its path, which is appended if it is missing. The same applies to the others where they
 * are at the same host; at another host they are used as they are: the host name selects the control plane.
 *
 *     endpoint          https://shared.example                       https://shared.example/clusters/a/control-plane
 *     externalEndpoint  https://a.example                         →  https://a.example
 *     joinEndpoint      https://shared.example/                      https://shared.example/clusters/a/control-plane
 */

import type { ControlPlaneAddress, ControlPlaneEndpoint } from '../api/index.ts';
import { pathOf } from '../api/index.ts';

/** Whole URLs, without a trailing slash. */
export interface ResolvedAddresses {
  readonly internal: string;
  readonly external: string;
  readonly join: string;
}

/** Undefined: there is no internal address yet, or none that is an https URL. */
export function resolveAddresses(
  { spec, status }: Pick<ControlPlaneEndpoint, 'spec' | 'status'>,
  clusterPath: string,
): ResolvedAddresses | undefined {
  const said = (field: 'endpoint' | 'externalEndpoint' | 'joinEndpoint'): URL | undefined =>
    httpsUrl(status?.[field] || spec?.[field]);
  const own = said('endpoint');
  if (!own) return undefined;
  const internal = withPath(own, clusterPath);
  const [outer, joining] = [said('externalEndpoint'), said('joinEndpoint')];
  const whole = (url: URL): string => (url.host === own.host ? withPath(url, clusterPath) : text(url));
  const external = outer ? whole(outer) : internal;
  return { internal, external, join: joining ? whole(joining) : external };
}

/** Returns the internal address without a path, for a control plane that is not a tenant of a Hangar. Undefined as above. */
export function writtenAddress({ spec, status }: Pick<ControlPlaneEndpoint, 'spec' | 'status'>): string | undefined {
  const own = httpsUrl(status?.endpoint || spec?.endpoint);
  return own && text(own);
}

/** In the format of `status.endpoints`. */
export const addressList = ({ internal, external, join }: ResolvedAddresses): ControlPlaneAddress[] => [
  { type: 'Internal', url: internal },
  { type: 'External', url: external },
  { type: 'Join', url: join },
];

/** Undefined: it is not an https URL, or has more in it than host and path. */
export function httpsUrl(address: string | undefined): URL | undefined {
  const url = address ? URL.parse(address) : null;
  if (!url || url.protocol !== 'https:' || url.host === '') return undefined;
  const { username, password, search, hash } = url;
  return username + password + search + hash === '' ? url : undefined;
}

/** Ignores the case of the host, default ports and trailing slashes. */
export function isSameAddress(one: string | undefined, other: string | undefined): boolean {
  const [a, b] = [httpsUrl(one), httpsUrl(other)];
  return a !== undefined && b !== undefined && text(a) === text(b);
}

/** Reports whether it leads to the tenant at this path, at any host. */
export function isAtPath(address: string | undefined, clusterPath: string): boolean {
  const url = httpsUrl(address);
  return url !== undefined && endsWithPath(url, clusterPath);
}

/** Reports whether it leads to a tenant at all. */
export const isAtAnyPath = (address: string): boolean =>
  /\/clusters\/[^/]+\/control-plane\/*$/.test(httpsUrl(address)?.pathname ?? '');

const withPath = (url: URL, clusterPath: string): string =>
  endsWithPath(url, clusterPath) ? text(url) : `${text(url)}${pathOf(clusterPath)}`;

const endsWithPath = (url: URL, clusterPath: string): boolean =>
  url.pathname.replace(/\/+$/, '').endsWith(pathOf(clusterPath));

const text = (url: URL): string => `${url.origin}${url.pathname}`.replace(/\/+$/, '');
