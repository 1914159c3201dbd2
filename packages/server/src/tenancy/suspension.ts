/** What a suspended tenant still answers. */

import { StatusError } from '@hangar/api';
import type { RequestInfo } from '../request/info.ts';
import type { Tenant } from './tenant.ts';

const reads = new Set(['get', 'head', 'list', 'watch', 'options']);
/** Questions that are asked by creating them: nothing is stored. */
const reviews = new Set(['authentication.k8s.io', 'authorization.k8s.io']);

/** What is asked for by reading, and goes on to where anything can be done. */
const connections = new Set(['exec', 'attach', 'portforward', 'proxy']);
const isConnection = (info: RequestInfo): boolean => info.isResource && connections.has(info.subresource);

const isRead = (info: RequestInfo): boolean =>
  (reads.has(info.verb) && !isConnection(info)) ||
  (info.isResource && reviews.has(info.group) && info.verb === 'create');

/** Throws when the tenant's suspension refuses the request. Asked when it is known who asks. */
export function insistOnActive({ path, spec: { suspension } }: Tenant, info: RequestInfo): void {
  if (suspension === undefined || (suspension === 'ReadOnly' && isRead(info))) return;
  if (suspension === 'ReadOnly') {
    throw new StatusError('Forbidden', `control plane "${path}" is suspended: it is read-only until it is resumed`, {
      details: {},
    });
  }
  throw offline(path);
}

/** Without a time to come again: clients would wait for it, over and over. */
export const offline = (path: string): StatusError =>
  new StatusError('ServiceUnavailable', `control plane "${path}" is suspended until it is resumed`, { details: {} });
