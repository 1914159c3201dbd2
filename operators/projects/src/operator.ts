/**
 * The operator of organizations and projects: all controllers on one manager. It has one watch for each kind, and none inside the control
 * planes of projects.
 *
 *     const manager = projectsOperator({ management, host });
 *     await manager.run(signal);
 */

import type { Client } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { ControlPlane } from '@hangar/controlplane-operator';
import type { TenantHost } from '@hangar/controlplane-operator';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { allTransforms, kindOptions, Manager, withoutLastApplied, withoutManagedFields } from '@hangar/runtime';
import type { CacheOptions, LeaderElectionOptions, ListenOptions } from '@hangar/runtime';
import { labels } from './api/index.ts';
import { addIndexes } from './indexes.ts';
import { membershipController } from './membership/controller.ts';
import { organizationController } from './organization/controller.ts';
import { controlPlaneAccess } from './project/control-plane-access.ts';
import type { AccessOptions } from './project/control-plane-access.ts';
import { projectController } from './project/controller.ts';
import { Admissions } from './project/quota.ts';

export interface ProjectsOperatorOptions {
  /** Serves the kinds of organizations and of control planes. Closed by its creator. */
  readonly management: Client;
  /** The Hangar whose tenants virtual control planes are. */
  readonly host: Pick<TenantHost, 'enter'>;
  /** Connects to dedicated control planes. Absent: over the network. */
  readonly connect?: AccessOptions['connect'];
  /** Absent: this process works without leader election. */
  readonly leaderElection?: LeaderElectionOptions | undefined;
  readonly metrics?: ListenOptions | false | undefined;
  readonly health?: ListenOptions | false | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly log?: Logger | undefined;
}

const lean = { transform: allTransforms(withoutManagedFields, withoutLastApplied) };

/** Of ControlPlanes and namespaces only those of projects and organizations. */
const cache: CacheOptions = {
  defaults: lean,
  byKind: [
    { ...lean, ...kindOptions(ControlPlane, { labelSelector: labels.project }) },
    { ...lean, ...kindOptions(Namespace, { labelSelector: labels.organization }) },
  ],
};

/** Starts nothing before `run`. The definitions must be installed by then. */
export function projectsOperator(options: ProjectsOperatorOptions): Manager {
  const { management, host, connect, leaderElection, metrics = false, health = metrics, log } = options;
  const { clock = systemClock, random = systemRandom } = options;
  const manager = new Manager({
    client: management,
    cache,
    metrics,
    health,
    clock,
    random,
    ...(leaderElection && { leaderElection }),
    ...(log && { log }),
  });
  const { cluster } = manager;
  addIndexes(cluster.cache);
  const access = controlPlaneAccess({ host, reader: cluster.apiReader, connect });
  manager.controller(organizationController({ clock }));
  manager.controller(membershipController({ clock }));
  manager.controller(projectController({ access, admissions: new Admissions(), clock }));
  return manager;
}
