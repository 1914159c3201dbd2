/**
 * Finds the control plane of a request by its URL path:
 *
 *   /clusters/demo/control-plane/api/v1/pods                                     tenant demo, /api/v1/pods
 *   /projects/demo/control-plane/api/v1/pods                                     the same
 *   /apis/resourcemanager.miloapis.com/v1alpha1/projects/demo/control-plane/…    the same
 *   /clusters/STAR/control-plane/api/v1/pods                                     all tenants, where STAR is `*`
 *
 * Segments are compared without decoding, except for the star: an escaped name matches no tenant.
 */

export interface Route {
  /** Path segment as sent; `*` selects all tenants. It may be an invalid name, or not match any tenant. */
  readonly path: string;
  /** Path and query for the tenant's own server; begins with a slash. */
  readonly target: string;
}

export const everyTenant = '*';
/** Go clients always escape the star this way. */
const escapedStar = /^%2a$/i;

const roots = ['/clusters/', '/projects/', '/apis/resourcemanager.miloapis.com/v1alpha1/projects/'];
const place = '/control-plane';

/** Returns undefined if the request is for the tenant of its host name, or for the management plane. */
export function routeOf(target: string): Route | undefined {
  const root = roots.find((one) => target.startsWith(one));
  if (root === undefined) return undefined;
  const end = target.indexOf('/', root.length);
  if (end < 0 || !target.startsWith(place, end)) return undefined;
  const rest = target.slice(end + place.length);
  if (rest !== '' && rest[0] !== '/' && rest[0] !== '?') return undefined;
  const segment = target.slice(root.length, end);
  const path = escapedStar.test(segment) ? everyTenant : segment;
  // The marker is part of a query, for example in a request for the object of a project: not a route.
  if (path.includes('?')) return undefined;
  return { path, target: rest[0] === '/' ? rest : `/${rest}` };
}

/** Returns the host in lower case without the port, or undefined if there is none. */
export function hostName(authority: string | undefined): string | undefined {
  if (authority === undefined || authority === '') return undefined;
  const host = authority.startsWith('[') ? authority.slice(0, authority.indexOf(']') + 1) : authority.split(':', 1)[0]!;
  return host.toLowerCase();
}
