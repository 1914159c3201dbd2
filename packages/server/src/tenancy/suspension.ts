/**
 * Decides which requests a suspended tenant still answers. There are two causes: an administrator set `spec.suspension`, or the
 * server quarantined the tenant (`status.quarantine`). `closure` alone decides whether a tenant answers any requests.
 */

import { StatusError } from '@hangar/api';
import type { RequestInfo } from '../request/info.ts';
import type { Quarantine, Tenant } from './tenant.ts';

const reads = new Set(['get', 'head', 'list', 'watch', 'options']);
/** Reviews are questions sent as creates; nothing is stored. */
const reviews = new Set(['authentication.k8s.io', 'authorization.k8s.io']);

/** Subresources that are requested with a read verb but open a connection that can write. */
const connections = new Set(['exec', 'attach', 'portforward', 'proxy']);
const isConnection = (info: RequestInfo): boolean => info.isResource && connections.has(info.subresource);

const isRead = (info: RequestInfo): boolean =>
  (reads.has(info.verb) && !isConnection(info)) ||
  (info.isResource && reviews.has(info.group) && info.verb === 'create');

/** Throws if the tenant's suspension forbids the request. `isKnown`: see `closure`. */
export function insistOnActive(tenant: Tenant, info: RequestInfo, isKnown: boolean): void {
  const {
    path,
    spec: { suspension },
  } = tenant;
  const closed = closure(tenant, isKnown);
  if (closed) throw closed;
  if (suspension === undefined || (suspension === 'ReadOnly' && isRead(info))) return;
  throw new StatusError('Forbidden', `control plane "${path}" is suspended: it is read-only until it is resumed`, {
    details: {},
  });
}

/**
 * Returns the error for all requests to a tenant that is offline or quarantined, or undefined if the tenant answers at least reads.
 * `isKnown`: the user is authenticated. Only such users may read why the tenant is quarantined: the message names users and objects of the
 * tenant.
 */
export function closure({ path, spec, quarantine }: Tenant, isKnown = false): StatusError | undefined {
  if (spec.suspension === 'Offline') return offline(path);
  return quarantine && (isKnown ? quarantinedInDetail(path, quarantine) : quarantined(path));
}

const quarantined = (path: string): StatusError =>
  new StatusError('ServiceUnavailable', `control plane "${path}" is quarantined`, { details: {} });

const quarantinedInDetail = (path: string, { reason, message, until }: Quarantine): StatusError =>
  new StatusError(
    'ServiceUnavailable',
    `control plane "${path}" is quarantined until ${until}: ${message}. ` +
      `A platform administrator can end the quarantine with "hangar resume ${path}".`,
    { details: { causes: [{ reason, message }] } },
  );

/** Has no Retry-After: clients would keep retrying. */
const offline = (path: string): StatusError =>
  new StatusError('ServiceUnavailable', `control plane "${path}" is suspended until it is resumed`, { details: {} });
