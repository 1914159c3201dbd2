/**
 * Identity of a tenant, written in the transaction that creates the tenant. The revision of its key is the fence of every write to the
 * tenant: a server that still has a destroyed tenant open cannot write. A restore in place, materialisation and a migration rewrite it.
 */

import type { Entry, Fence, Revision } from '@hangar/store';

/** API server that serves a tenant after a migration. */
export interface RemoteApiServer {
  /** `https://host:port`. */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  /** Name in the certificate of the server. Absent: the host. */
  readonly serverName?: string | undefined;
}

export interface TenantIdentity {
  /** Random. The UIDs of base objects are derived from it, so no two tenants share one. Backups and retained data keep it. */
  readonly seed: string;
  /** RFC 3339, in seconds. */
  readonly createdAt: string;
  /** The base is written into the range, as a real kube-apiserver requires; the tenant no longer uses the shared base. */
  readonly isMaterialised?: boolean;
  /**
   * The data of the tenant is being replaced by staged entries, and this is its identity afterwards. Requests to the tenant are refused
   * until then. See `backup/replacement.ts`.
   */
  readonly next?: TenantIdentity;
  /** Identifies the last restore in place, so that a repeated request does not replace the data again. */
  readonly restoreId?: string;
  /**
   * The content has belonged to this tenant since this revision, which is also the revision of its base objects. Absent: since the revision
   * of the identity.
   */
  readonly since?: Revision;
  /** Watches from this revision on resume at `since`: they have missed nothing. Set when the tenant has received its content. */
  readonly resumesFrom?: Revision;
  /** A migration with this ID holds the tenant: no write is possible, and requests wait. */
  readonly heldBy?: string;
  /** Requests are passed on to this API server, and the data in the range is not served. */
  readonly remote?: RemoteApiServer;
}

/** Returns the revision of base objects. */
export const baseRevisionOf = ({ modRevision, value }: Entry): Revision => decodeIdentity(value).since ?? modRevision;

/** Returns the fence of a view of the tenant with this identity. */
export function fenceOf(entry: Entry): Fence {
  const { since, resumesFrom } = decodeIdentity(entry.value);
  return { key: entry.key, revision: entry.modRevision, since, resumesFrom };
}

/** Reports whether a tenant with the identity `now` shows the content and the history of the view that `fence` belongs to. */
export const continuesView = (fence: Fence, seed: string, now: TenantIdentity): boolean =>
  now.seed === seed && now.next === undefined && now.since !== undefined && now.since <= fence.revision;

/** Returns the identity of a tenant whose content is replaced: clients must list again. */
export function withoutHistory(identity: TenantIdentity): TenantIdentity {
  const { since: _since, resumesFrom: _resumesFrom, ...rest } = identity;
  return rest;
}

export const encodeIdentity = (identity: TenantIdentity): Buffer => Buffer.from(JSON.stringify(identity));

export const decodeIdentity = (value: Uint8Array): TenantIdentity =>
  JSON.parse(Buffer.from(value).toString()) as TenantIdentity;
