/** Opens a control plane on a store: catalogue, admission, initial objects, and followers of the store. */

import { createRequire } from 'node:module';
import type { Clock, Random } from '@hangar/core';
import type { Store } from '@hangar/store';
import { Admission } from './admission/admission.ts';
import { chosenPlugins } from './admission/plugin-choice.ts';
import type { PluginChoice } from './admission/plugin-choice.ts';
import type * as Plugins from './admission/plugins.ts';
import { RoleAggregator } from './auth/authorization/rbac/aggregation.ts';
import { Policy } from './auth/authorization/rbac/policy.ts';
import { bootstrap } from './bootstrap/bootstrap.ts';
import type { BootstrapOptions } from './bootstrap/objects.ts';
import type { ControlPlane } from './control-plane.ts';
import { ControlPlaneMetrics } from './metrics/control-plane-metrics.ts';
import { NodeAccess } from './nodes/node-access.ts';
import type { NodeOptions } from './nodes/node-access.ts';
import { CacheBudget, defaultCacheBytesMax } from './objects/cache-budget.ts';
import { Collections } from './objects/collections.ts';
import { Expiry } from './objects/expiry.ts';
import { Outbound, ServiceResolver } from './outbound/index.ts';
import { Catalogue } from './resources/catalogue.ts';
import { DefinitionFollower } from './definitions/follower.ts';

export interface ControlPlaneOptions {
  readonly name: string;
  /** Prefix of the store; every control plane is below `<prefix>/clusters/`. */
  readonly prefix: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Absent: the caller calls `bootstrap` when it knows the address. */
  readonly bootstrap?: BootstrapOptions;
  /** Absent: the default plugins of kube-apiserver. */
  readonly admission?: PluginChoice;
  /** Budget of the caches for lists; shared by control planes. Absent: a default one, not shared. */
  readonly cacheBudget?: CacheBudget;
  /** Shared by control planes, and closed by its creator. Absent: a client that cannot reach this machine. */
  readonly outbound?: Outbound;
  /** Absent: the server does not connect to nodes of this control plane. */
  readonly nodes?: NodeOptions;
  /** Metrics that outlive this control plane. Absent: they start at zero with it. */
  readonly metrics?: ControlPlaneMetrics;
}

const require = createRequire(import.meta.url);
const plugins = (): typeof Plugins => require('./admission/plugins.ts') as typeof Plugins;

export interface OpenControlPlane {
  readonly plane: ControlPlane;
  close(): void;
}

export async function openControlPlane(options: ControlPlaneOptions): Promise<OpenControlPlane> {
  const { name, prefix, store, clock, random } = options;
  const catalogue = new Catalogue();
  const outbound = options.outbound ?? new Outbound({ clock });
  const plane: { -readonly [K in keyof ControlPlane]: ControlPlane[K] } = {
    name,
    prefix: `${prefix}/clusters/${name}/`,
    store,
    clock,
    random,
    catalogue,
    // No writes happen before these are set.
    admission: undefined as never,
    expiry: new Expiry(store, clock),
    definitions: undefined as never,
    collections: new Collections(store, options.cacheBudget ?? new CacheBudget(defaultCacheBytesMax), clock),
    outbound,
    nodes: new NodeAccess({ ...options.nodes, plane: name, outbound, clock }),
    metrics: options.metrics ?? new ControlPlaneMetrics(clock),
    services: undefined as never,
    policy: undefined as never,
  };
  plane.services = new ServiceResolver(plane);
  plane.policy = new Policy(plane);
  const aggregator = new RoleAggregator(plane);
  const chosen = chosenPlugins(options.admission ?? {});
  plane.admission = new Admission(() => plugins().admissionPlugins(plane, chosen), plane);
  if (options.bootstrap) await bootstrap(plane, options.bootstrap);
  const definitions = new DefinitionFollower(plane);
  plane.definitions = definitions;
  await definitions.start();
  return {
    plane,
    close() {
      plane.nodes.close();
      definitions.close();
      plane.admission.close();
      plane.services.close();
      aggregator.close();
      plane.policy.close();
      if (!options.outbound) plane.outbound.close();
      plane.collections.close();
    },
  };
}
