/** Errors for operations on a tenant that a migration holds, or that another API server serves. */

import { conflict, StatusError } from '@hangar/api';
import type { TenantIdentity } from '../identity.ts';
import { tenantsName } from '../tenant.ts';

/** Throws 409 while a migration holds the tenant. */
export function insistOnNoHold(path: string, { heldBy }: Pick<TenantIdentity, 'heldBy'>): void {
  if (heldBy === undefined) return;
  throw conflict(
    tenantsName,
    path,
    `migration ${JSON.stringify(heldBy)} holds the tenant: try again when it has ended`,
  );
}

/** Throws 409 if the range of the tenant does not contain its current data. */
export function insistOnOwnData(path: string, { remote }: Pick<TenantIdentity, 'remote'>): void {
  if (!remote) return;
  const reason = `the API server at ${remote.server} serves the tenant, and its data is not in this store`;
  throw conflict(tenantsName, path, reason);
}

/** Throws 409 if the range of the tenant does not contain its current data, or must not change now. */
export function insistOnLocal(path: string, identity: TenantIdentity): void {
  insistOnNoHold(path, identity);
  insistOnOwnData(path, identity);
}

/** Returned to clients after the longest time that a request may wait. */
export const stillHeld = (path: string): StatusError =>
  new StatusError('ServiceUnavailable', `control plane "${path}" is being migrated, please try again`, {
    details: { retryAfterSeconds: 1 },
  });
