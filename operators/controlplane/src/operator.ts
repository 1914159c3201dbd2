/**
 * The operator: all controllers of the group on one manager. It reads the management plane through one narrow cache, and the host's Tenants
 * through another, also where both are one Hangar.
 */

import type { Client } from '@hangar/client';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Failpoints, Random } from '@hangar/core';
import { Manager } from '@hangar/runtime';
import type { LeaderElectionOptions, ListenOptions, MetricsRegistry } from '@hangar/runtime';
import { builtinAddons } from './addons/builtin.ts';
import { addonNamespace } from './addons/bundles.ts';
import { classController } from './class/controller.ts';
import { addControlPlaneController, tenantsOf } from './control-plane/index.ts';
import { dedicatedPlatform } from './dedicated/platform.ts';
import type { DedicatedPlatform } from './dedicated/platform.ts';
import { addEndpointIndex, endpointController } from './endpoint/controller.ts';
import type { TenantHost } from './host/index.ts';
import type { MigrationPlatform } from './migration/controller.ts';
import { managementCache } from './management-cache.ts';
import { PromotionController } from './promotion/controller.ts';
import type { PromotionOptions } from './promotion/controller.ts';
import { ApiServerMeasurements } from './promotion/dedicated-measurements.ts';
import { TenantMeasurements } from './promotion/tenant-measurements.ts';
import { automaticController } from './registration/automatic.ts';
import { registrationController } from './registration/controller.ts';
import { ControllerManagerLiveness } from './registration/controller-manager-liveness.ts';
import { externalControllersController } from './registration/external-controllers.ts';
import { FollowedSecrets } from './registration/followed-secrets.ts';
import { addRegistrationIndexes } from './registration/indexes.ts';
import {
  addControllerManagerIndexes,
  lostControllerManagersControllers,
} from './registration/lost-controller-managers.ts';

export interface OperatorOptions {
  /** Serves the four kinds: Hangar's own management plane, or any Kubernetes. Closed by its creator. */
  readonly management: Client;
  /** The Hangar whose tenants virtual control planes are. */
  readonly host: TenantHost;
  /** Defaults of dedicated control planes. Absent: the version of Kubernetes that Hangar follows. */
  readonly dedicated?: Partial<DedicatedPlatform> | undefined;
  /** Both sides of migrations between modes. Absent: a change of the mode has no effect. */
  readonly migration?: MigrationPlatform | undefined;
  /** Absent: this process works without leader election. */
  readonly leaderElection?: LeaderElectionOptions | undefined;
  /** `/metrics`. Absent or false: nowhere. */
  readonly metrics?: ListenOptions | false | undefined;
  /** `/healthz`, `/livez`, `/readyz`. Absent: where the metrics are. */
  readonly health?: ListenOptions | false | undefined;
  /** Absent: a new one. */
  readonly registry?: MetricsRegistry | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly log?: Logger | undefined;
  /** For tests: the time between two measurements for promotion, and their clock. */
  readonly promotion?: Partial<Pick<PromotionOptions, 'intervalMs' | 'clock'>> | undefined;
  /** For tests: `controlplane.<write>.before` and `.after`. */
  readonly failpoints?: Pick<Failpoints, 'hit'> | undefined;
}

/** Starts nothing before `run`. The definitions must be installed by then: see `installDefinitions`. */
export function controlPlaneOperator(options: OperatorOptions): Manager {
  const { management, host, clock = systemClock, random = systemRandom, leaderElection } = options;
  const { metrics = false, health = metrics, registry, failpoints, migration } = options;
  const log = options.log ?? new Logger({ level: 'info', format: 'text', clock });
  const manager = new Manager({
    client: management,
    cache: managementCache,
    metrics,
    health,
    clock,
    random,
    log,
    ...(leaderElection ? { leaderElection } : {}),
    ...(registry ? { registry } : {}),
  });
  const tenants = tenantsOf(host, { clock, log });
  manager.add({ name: 'tenants', start: (signal) => tenants.start(signal) }, { needsLeadership: false });
  const { cache } = manager.cluster;
  addEndpointIndex(cache);
  addRegistrationIndexes(cache);
  addControllerManagerIndexes(cache);
  const dedicated = dedicatedPlatform(options.dedicated);
  addControlPlaneController(manager, {
    management,
    host,
    tenants,
    dedicated,
    migration,
    clock,
    random,
    log,
    failpoints,
  });
  manager.controller(classController({ clock, builtinAddons, addonNamespace }));
  manager.controller(endpointController({ host, clock }));
  manager.controller(automaticController());
  manager.controller(externalControllersController({ host, tenants }));
  const liveness = new ControllerManagerLiveness({ management, clock, log });
  for (const controller of lostControllerManagersControllers({ clock, liveness })) manager.controller(controller);
  manager.controller(
    registrationController({ clock, followed: new FollowedSecrets({ client: management, clock, log }) }),
  );
  manager.add(
    new PromotionController({
      management: manager.cluster,
      client: management,
      tenants,
      measurements: new TenantMeasurements({ client: host.client, clock, ...options.promotion }),
      dedicated: new ApiServerMeasurements({
        client: management,
        connect: dedicated.connect,
        clock,
        log,
        ...options.promotion,
      }),
      events: manager.recorder('controlplane-operator').for(manager.cluster),
      clock,
      log,
      ...options.promotion,
    }),
  );
  return manager;
}
