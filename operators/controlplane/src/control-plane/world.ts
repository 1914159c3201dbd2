/** The inputs of a pass of the reconciler, and its intermediate results. Steps read and fill it, in their order. */

import type { Client } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Cluster, ClusterEvents } from '@hangar/runtime';
import type { ControlPlane, ControlPlaneClass, ControlPlaneMode } from '../api/index.ts';
import type { ResolvedAddresses } from '../endpoint/resolve.ts';
import type { Routes } from '../gateway/routes.ts';
import type { TenantHost } from '../host/index.ts';
import type { AddonResync } from '../dedicated/addon-resync.ts';
import type { HostedControlPlanes } from '../dedicated/hosted-control-planes.ts';
import type { DedicatedPlatform } from '../dedicated/platform.ts';
import type { Auth } from '../kubeconfig/auth.ts';
import type { HostFacts } from '../join/host-facts.ts';
import type { MigrationPlatform } from '../migration/controller.ts';
import type { MigrationRecord } from '../migration/record.ts';
import type { NodeAccess } from './nodes.ts';
import type { JoinMaterial } from '../join/material.ts';
import type { Bundle } from '../addons/bundles.ts';
import type { Drift } from '../addons/drift.ts';
import type { Entrance } from './entrance.ts';
import type { SecretObject } from './kept-secret.ts';
import type { ProvisionedPlane } from './provisioned-plane.ts';
import type { Writes } from './writes.ts';

/** Of the operator: the same for all passes. */
export interface World {
  readonly host: TenantHost;
  /** The host's `Tenant`s: cached, and watched. */
  readonly tenants: Cluster;
  readonly hostFacts: HostFacts;
  /** HostedControlPlanes of dedicated control planes. */
  readonly hosted: HostedControlPlanes;
  readonly dedicated: DedicatedPlatform;
  /** Absent: control planes cannot be migrated between modes. */
  readonly migration?: MigrationPlatform | undefined;
  readonly addonResync: AddonResync;
  readonly routes: Routes;
  readonly drift: Drift;
  readonly clock: Clock;
  readonly random: Random;
  readonly writes: Writes;
  /** Of the management plane. */
  readonly events: Pick<ClusterEvents, 'event'>;
}

/** One pass over one control plane. */
export interface Pass {
  readonly world: World;
  /** Of the management plane: reads from the cache. */
  readonly client: Client;
  readonly cache: Cluster['cache'];
  /** The management plane itself, for when the cache may be stale. */
  readonly apiReader: Pick<Client, 'get' | 'list'>;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly path: string;
  /** Access to the content of the control plane; opened by the first step that needs it. */
  readonly entrance: Entrance;
  /** As read, or as returned by the last write. */
  controlPlane: ControlPlane;
  /** The mode that serves the control plane. `spec.mode` differs until a migration has switched. */
  mode: ControlPlaneMode;
  /** The control plane was migrated to mode Dedicated: its tenant passes requests on. */
  isMoved: boolean;
  /** The record of a migration that starts with the status of this pass. */
  migration?: MigrationRecord;
  readonly namespace: string;
  /** Absent: the control plane has none. */
  class?: ControlPlaneClass | undefined;
  auth?: Auth;
  addresses?: ResolvedAddresses;
  /** Nodes have a dedicated address or port: their join credentials are renewed. */
  isJoinWanted?: boolean;
  /** The endpoint names an address for nodes. */
  isJoinConfigured?: boolean;
  /** How nodes join through a separate address. Absent: they join at the address of the endpoint. */
  nodes?: NodeAccess;
  /** Returned at the end, when all independent work is done. */
  deferred?: Verdict | undefined;
  /** Set when its API server exists. */
  plane?: ProvisionedPlane;
  servingCa?: string;
  join?: JoinMaterial;
  bundles?: readonly Bundle[];
  secrets?: { readonly kubeconfig: SecretObject | undefined; readonly join: SecretObject | undefined };
  /** Digests of the objects inside of the tenant: written to the Secret when everything is done. */
  inside?: string;
  addons?: string;
  kubeconfigSecretRef?: { readonly name: string; readonly namespace: string };
  /** Conditions besides Accepted, Programmed and Ready. */
  readonly remarks: Remark[];
  /** Types of conditions that no longer apply. */
  readonly withdrawn: string[];
  /** Times of the next pass without an event, in milliseconds since 1970. */
  readonly wakeUps: number[];
}

/** A condition besides Accepted, Programmed and Ready. */
export interface Remark {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
  /** An event reports the recovery: no retry is scheduled. */
  readonly isAwaited?: boolean;
}

/**
 * Why a pass ends before its last step. `Accepted`: the spec is impossible. `Programmed`: something does not exist yet. `Ready`: everything
 * exists, but must not be used.
 */
export interface Verdict {
  readonly type: 'Accepted' | 'Programmed' | 'Ready';
  readonly reason: string;
  /** States what is wrong, and what to do about it. */
  readonly message: string;
  /** No event reports the recovery: requeue after this delay. Absent: an event comes. */
  readonly lookAgainMs?: number;
  /** Others were just requested to act and usually do at once: no status is written before they had the time for it. */
  readonly isUnsaid?: boolean;
}

/** Undefined: continue. */
export type Step = (pass: Pass) => Promise<Verdict | undefined> | Verdict | undefined;
