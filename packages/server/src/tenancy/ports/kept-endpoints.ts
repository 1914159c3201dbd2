/**
 * Keeps the service `kubernetes` of an open tenant with nodes pointed at the tenant's port on all servers, as the endpoint reconciler of
 * kube-apiserver does. Pods get the address of that service in KUBERNETES_SERVICE_HOST.
 *
 * A closed tenant costs nothing: its endpoints are updated when it is opened, before it answers requests.
 */

import { detachedClock } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import { ensureEndpoint } from '../../bootstrap/bootstrap.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { Tenant } from '../tenant.ts';

/** Addresses of the servers for clients in the clusters of tenants. */
export interface AdvertisedAddresses {
  /** Cluster IP of the service. */
  readonly serviceAddress: string;
  /** IP addresses of all servers that run, of one family; at least one. */
  current(): readonly string[];
  /** Returns a function that ends the calls. */
  onChange(listener: () => void): () => void;
}

export interface KeptEndpointsOptions {
  readonly plane: ControlPlane;
  readonly clock: Clock;
  /** Returns the current state. */
  readonly tenant: () => Tenant;
  readonly advertised: AdvertisedAddresses;
  readonly onError: (error: Error) => void;
}

/** Interval of kube-apiserver: a user of the tenant may have changed the objects. */
const checkEveryMs = 10_000;
const attemptsMax = 8;

/** Resolves when the objects are up to date, or cannot be written now; then the next check retries. Returns a function that ends the checks. */
export async function keepEndpoints(options: KeptEndpointsOptions): Promise<() => void> {
  const clock = detachedClock(options.clock);
  let timer: Timer | undefined;
  let isClosed = false;
  let running: Promise<void> | undefined;
  const check = (): Promise<void> => (running ??= update(options).finally(() => (running = undefined)));
  const later = (): void => {
    if (isClosed) return;
    timer = clock.after(checkEveryMs, () => void check().then(later));
  };
  await check();
  later();
  const unfollow = options.advertised.onChange(() => void check());
  return () => {
    isClosed = true;
    timer?.cancel();
    unfollow();
  };
}

async function update({ plane, tenant, advertised, onError }: KeptEndpointsOptions): Promise<void> {
  const { port, spec } = tenant();
  if (port === undefined || !spec.nodes?.enabled) return;
  const { serviceAddress } = advertised;
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      if (await ensureEndpoint(plane, { serviceAddress, addresses: advertised.current(), port })) return;
    }
  } catch (error) {
    onError(error as Error);
  }
}
