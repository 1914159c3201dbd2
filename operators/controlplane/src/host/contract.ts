/**
 * The Hangar whose tenants virtual control planes are. It may be the same server as the management plane, or a remote one: callers do not
 * distinguish them.
 */

import type { Client } from '@hangar/client';

/** A change of an object of an addon. */
export interface InsideChange {
  readonly path: string;
  /** `resource.group/namespace/name`: `configmaps./default/a`. */
  readonly object: string;
  /** Of the current object; of a deletion, a newer one. */
  readonly resourceVersion: string;
}

export interface TenantHost {
  /** Client of its management plane, where `Tenant`s are. Not cached. */
  readonly client: Client;
  /**
   * Returns an administrator's client of the tenant, which the caller closes. A missing tenant is reported by the first call, or here
   * already: `NotFound`.
   */
  enter(path: string): Promise<Client>;
  /** `https://host:port`, without a path: its address on the platform's own network. */
  readonly internalUrl: string;
  /** The same for all other clients. Absent: there is no other address. */
  readonly externalUrl?: string | undefined;
  /** CA of the certificates of its port; PEM. Read regularly: it may be renewed. */
  servingCa(): string | Promise<string>;
  /**
   * Reports changes of objects with the label of addons in tenants, until the signal. Absent: changes are not reported, and are repaired
   * when credentials are renewed.
   */
  changes?(listener: (change: InsideChange) => void, signal: AbortSignal): Promise<void>;
}
