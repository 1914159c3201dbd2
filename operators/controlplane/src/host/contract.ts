/**
 * The Hangar whose tenants virtual control planes are. It may be the same server as the management plane, or another one far away:
 * nothing above knows which.
 */

import type { Client } from '@hangar/client';

/** Something was done to an object that an addon brought. */
export interface InsideChange {
  readonly path: string;
  /** `resource.group/namespace/name`: `configmaps./default/a`. */
  readonly object: string;
  /** Of what it is now; of a deletion, another one. */
  readonly resourceVersion: string;
}

export interface TenantHost {
  /** Of its management plane, where `Tenant`s are. Asks the server. */
  readonly client: Client;
  /**
   * An administrator inside of the tenant. Whoever enters closes the client again. Whether the tenant is there is found out by the
   * first call, or here already: `NotFound`.
   */
  enter(path: string): Promise<Client>;
  /** `https://host:port`, without a path: how those on the platform's own network get there. */
  readonly internalUrl: string;
  /** The same for everybody else. Absent: there is no other way in. */
  readonly externalUrl?: string | undefined;
  /** Whose certificates its port shows; PEM. Asked again now and then: it may be renewed. */
  servingCa(): string | Promise<string>;
  /**
   * What happens in tenants to objects with the label of addons, until the signal. Absent: nobody can tell, and what was changed is put
   * right when credentials are renewed.
   */
  changes?(listener: (change: InsideChange) => void, signal: AbortSignal): Promise<void>;
}
