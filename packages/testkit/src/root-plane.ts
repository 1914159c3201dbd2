/**
 * The server of a test without a socket: a control plane on a store in memory. Used for single clusters and for the management plane of a
 * fleet.
 */

import type { InProcessHandler } from '@hangar/client';
import { CleanupStack, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { ApiServer, Authorization, CertificateAuthenticator } from '@hangar/server';
import { openControlPlane, Outbound, privilegedGroup, withoutParent } from '@hangar/server';
import type { ApiServerOptions, ControlPlane } from '@hangar/server';
import { openEmbeddedStore, openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';

/** Options of clusters and fleets. */
export interface WorldOptions {
  /** Clock of the server. Absent: the system clock. Use `virtualClock()` to control the time. */
  readonly clock?: Clock | undefined;
  /** Source of randomness. Absent: the random source of the system. */
  readonly random?: Random | undefined;
  /** Empty folder for a store on disk, as in production. Absent: a store in memory. */
  readonly dataDir?: string | undefined;
}

export interface RootPlaneOptions extends WorldOptions {
  /** Absent: `masters`. See `TestClusterOptions`. */
  readonly authorization?: 'masters' | 'rbac' | undefined;
  readonly admits?: ApiServerOptions['admits'];
  /** Consulted after the authorization above. */
  readonly authorizers?: ApiServerOptions['authorizers'];
}

export interface RootPlane {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly plane: ControlPlane;
  readonly server: ApiServer;
  readonly handler: InProcessHandler;
  close(): Promise<void>;
}

export const bootstrapOptions = {
  serviceAddress: '10.0.0.1',
  serviceCidr: '10.0.0.0/24',
  endpoint: { address: '127.0.0.1', port: 6443 },
};

/** No controller creates accounts here, so pods cannot require one. */
export const admission = { disabled: ['ServiceAccount'] };

export const tellError = (error: Error): void => process.emitWarning(error);

export async function openRootPlane(options: RootPlaneOptions): Promise<RootPlane> {
  const { clock = systemClock, random = systemRandom, dataDir } = options;
  await using opened = new CleanupStack();
  const store =
    dataDir === undefined ? await openMemoryStore({ clock }) : await openEmbeddedStore({ directory: dataDir, clock });
  opened.defer(() => store.close());
  // Webhooks of tests run on this machine.
  const outbound = new Outbound({ clock, allow: ['127.0.0.0/8', '::1/128'] });
  opened.defer(() => outbound.close());
  const { plane, close } = await openControlPlane({
    name: 'root',
    prefix: '/registry',
    store,
    clock,
    random,
    outbound,
    admission,
    bootstrap: bootstrapOptions,
  });
  opened.defer(close);
  const authorizer =
    options.authorization === 'rbac'
      ? await Authorization.open(plane, { source: [{ type: 'RBAC', name: 'rbac' }], onError: tellError })
      : privilegedGroup;
  if (authorizer instanceof Authorization) opened.defer(() => authorizer.close());
  const server = new ApiServer({
    plane,
    authenticators: [new CertificateAuthenticator(clock)],
    authorizers: [authorizer, ...(options.authorizers ?? [])],
    scope: withoutParent,
    health: { livez: [], readyz: [] },
    address: () => '127.0.0.1:6443',
    onError: tellError,
    ...(options.admits ? { admits: options.admits } : {}),
  });
  const closing = opened.move();
  return {
    clock,
    random,
    store,
    plane,
    server,
    handler: (request) => server.handle(request),
    close: () => closing.run(),
  };
}
