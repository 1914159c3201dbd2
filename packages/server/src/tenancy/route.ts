/**
 * Which control plane a request is for, told by its path alone:
 *
 *   /clusters/demo/control-plane/api/v1/pods                                     tenant demo, /api/v1/pods
 *   /projects/demo/control-plane/api/v1/pods                                     the same
 *   /apis/resourcemanager.miloapis.com/v1alpha1/projects/demo/control-plane/…    the same
 *   /clusters/STAR/control-plane/api/v1/pods                                     all tenants, where STAR is `*`
 *
 * Segments are compared as they came. But for the star nothing is decoded: what is escaped names no tenant.
 */

export interface Route {
  /** As in the path; `*` is all of them. It may be no tenant's, nor a name at all. */
  readonly path: string;
  /** Path and query for the tenant's own server; begins with a slash. */
  readonly target: string;
}

export const everyTenant = '*';
/** Go's clients write the star so, and no other way. */
const escapedStar = /^%2a$/i;

const roots = ['/clusters/', '/projects/', '/apis/resourcemanager.miloapis.com/v1alpha1/projects/'];
const place = '/control-plane';

/** Undefined: it is for the control plane that the host name says, or for the management plane. */
export function routeOf(target: string): Route | undefined {
  const root = roots.find((one) => target.startsWith(one));
  if (root === undefined) return undefined;
  const end = target.indexOf('/', root.length);
  if (end < 0 || !target.startsWith(place, end)) return undefined;
  const rest = target.slice(end + place.length);
  if (rest !== '' && rest[0] !== '/' && rest[0] !== '?') return undefined;
  const segment = target.slice(root.length, end);
  const path = escapedStar.test(segment) ? everyTenant : segment;
  // A project's object is asked for by the same words: only what has its place right is a route.
  if (path.includes('?')) return undefined;
  return { path, target: rest[0] === '/' ? rest : `/${rest}` };
}

/** The host of a request in lower case, without its port; undefined when there is none. */
export function hostName(authority: string | undefined): string | undefined {
  if (authority === undefined || authority === '') return undefined;
  const host = authority.startsWith('[') ? authority.slice(0, authority.indexOf(']') + 1) : authority.split(':', 1)[0]!;
  return host.toLowerCase();
}
