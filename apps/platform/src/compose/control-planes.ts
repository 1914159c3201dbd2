/** The management plane and all tenants: from the store to a function that answers requests. */

import { hostname } from 'node:os';
import { systemClock, systemRandom } from '@hangar/core';
import {
  CacheBudget,
  FairQueue,
  kubeletCredentials,
  memberAuthorizer,
  openControlPlane,
  Tenancy,
  TenantFairness,
  usageStatus,
} from '@hangar/server';
import type { BootstrapOptions, ControlPlane, Handler, HealthCheck, PortRange } from '@hangar/server';
import { threadCpuMs } from '@hangar/server/watchdog';
import { endpointOf, serviceAddress, serviceCidr } from './addresses.ts';
import { aggregationOf } from './aggregation.ts';
import type { Aggregation } from './aggregation.ts';
import { rootServer } from './api-server.ts';
import { authorization } from './authorization.ts';
import { usualHosts } from './credentials.ts';
import { storePrefix } from './foundation.ts';
import type { Foundation } from './foundation.ts';
import { onceStarted } from './gate.ts';
import { LocalKubelet } from './local-kubelet.ts';
import { openAddresses, planePortsOf } from './plane-ports.ts';
import type { ServerState } from './server-state.ts';
import { openWatchdog } from './watchdog.ts';
import type { PlatformWatchdog } from './watchdog.ts';

export interface ControlPlanes {
  readonly plane: ControlPlane;
  /** Decides when received requests are handled. */
  readonly fairQueue: FairQueue;
  readonly tenancy: Tenancy;
  readonly aggregation: Aggregation;
  readonly localKubelet: LocalKubelet;
  readonly watchdog: PlatformWatchdog;
  /** Ports of control planes with nodes. */
  readonly ports: PortRange | undefined;
  /** Handler of all of them, once everything stored is served. */
  readonly handler: Handler;
  /** Initial objects of the management plane; available when the port is known. */
  bootstrap(): BootstrapOptions;
  /** Parts of `/metrics`, a text each. May be extended. */
  readonly metrics: (() => string)[];
  /** Checks of `/readyz`, besides its own. May be extended. */
  readonly checks: HealthCheck[];
}

/** Opened resources are added to `opened`. */
export async function openControlPlanes(
  foundation: Foundation,
  state: ServerState,
  opened: AsyncDisposableStack,
): Promise<ControlPlanes> {
  const { options, log, identity, outbound, trusted, store, measured, auditor, failpoints } = foundation;
  const world = {
    store,
    clock: systemClock,
    random: systemRandom,
    outbound,
    admission: options.admission,
    cacheBudget: new CacheBudget(options.cacheBytesMax),
  };
  const localKubelet = new LocalKubelet();
  const open = await openControlPlane({
    ...world,
    name: 'root',
    prefix: storePrefix,
    nodes: {
      dialer: localKubelet,
      credentials: kubeletCredentials({ ...world, keys: identity.credentials }),
      preferredAddressTypes: options.kubeletAddressTypes,
    },
  });
  opened.defer(() => open.close());
  const { plane } = open;
  const allowed = await authorization(plane, options.authorization, (error) =>
    log.error('the authorization configuration was rejected: the previous one stays in use', { error }),
  );
  opened.defer(() => allowed.close());
  const fairQueue = new FairQueue({ clock: systemClock, cpuMs: threadCpuMs, ...options.flow });
  const fairness = new TenantFairness({ queue: fairQueue, plane });
  opened.defer(() => fairness.close());
  const aggregation = aggregationOf(plane, () => identity.credentials, log);
  opened.defer(() => aggregation.close());
  const bootstrap = () => ({ serviceCidr, serviceAddress, endpoint: endpointOf(options, state.port) });
  const ports = planePortsOf(options);
  const advertised = await openAddresses(foundation, opened);
  const tenancy = new Tenancy({
    ...world,
    ports,
    advertised,
    kubeletAddressTypes: options.kubeletAddressTypes,
    root: plane,
    storePrefix,
    fairQueue,
    isPooled: true,
    // The objects that controllers would create in a new tenant exist before the controllers run: an idle tenant needs none of their
    // writes.
    bootstrap: () => ({ ...bootstrap(), hasAccounts: !options.services.isBare }),
    ownHosts: () => [...usualHosts, hostname().toLowerCase(), ...options.hosts],
    rootGuard: () => server.guard,
    url: (path) => `${options.externalUrl ?? state.url}/clusters/${path}/control-plane`,
    servingCa: () => identity.servingCa(),
    onError: (error) => log.error('a request to a tenant failed', { error }),
    onDestroyed: (tenant, usage) => log.info('tenant destroyed', { tenant, usage: usageStatus(usage) }),
    ...(auditor && { auditor }),
    ...(failpoints && { failpoints }),
  });
  opened.defer(() => tenancy.close());
  const watchdog = openWatchdog(foundation, { fairQueue, tenancy }, opened);
  const metrics = [
    () => measured.text(),
    () => fairQueue.text(),
    () => tenancy.metricsText(),
    () => watchdog.guard.text(),
  ];
  const checks: HealthCheck[] = [];
  const server = rootServer({
    plane,
    trusted,
    state,
    checks,
    log,
    aggregator: aggregation.aggregator,
    authorizers: [allowed, memberAuthorizer(() => tenancy.projects)],
    fairness,
    strangerRefusal: (request) => tenancy.misplaced(request),
    metrics: () => metrics.map((text) => text()).join('\n'),
    ...(auditor && { auditor }),
  });
  const handler = onceStarted(
    tenancy.handler((request) => server.handle(request)),
    state,
  );
  return { plane, fairQueue, tenancy, aggregation, localKubelet, watchdog, ports, handler, bootstrap, metrics, checks };
}
