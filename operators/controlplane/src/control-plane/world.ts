/** What a pass of the reconciler is given, and what it finds out on its way. Steps read and fill it, in their order. */

import type { Client } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Cluster, ClusterEvents } from '@hangar/runtime';
import type { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import type { ResolvedAddresses } from '../endpoint/resolve.ts';
import type { Routes } from '../gateway/routes.ts';
import type { TenantHost, TenantObject } from '../host/index.ts';
import type { Auth } from '../kubeconfig/auth.ts';
import type { HostFacts } from '../join/host-facts.ts';
import type { JoinMaterial } from '../join/material.ts';
import type { Bundle } from '../addons/bundles.ts';
import type { Drift } from '../addons/drift.ts';
import type { Entrance } from './entrance.ts';
import type { SecretObject } from './kept-secret.ts';
import type { Writes } from './writes.ts';

/** Of the operator: the same for all passes. */
export interface World {
  readonly host: TenantHost;
  /** The host's `Tenant`s: cached, and watched. */
  readonly tenants: Cluster;
  readonly hostFacts: HostFacts;
  readonly routes: Routes;
  readonly drift: Drift;
  readonly clock: Clock;
  readonly random: Random;
  readonly writes: Writes;
  /** Of the management plane. */
  readonly events: Pick<ClusterEvents, 'event'>;
}

/** One look at one control plane. */
export interface Pass {
  readonly world: World;
  /** Of the management plane: reads from the cache. */
  readonly client: Client;
  readonly cache: Cluster['cache'];
  /** The management plane itself, for when the cache may be behind. */
  readonly apiReader: Pick<Client, 'get' | 'list'>;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly path: string;
  /** Into the tenant; opened by the first step that needs it. */
  readonly entrance: Entrance;
  /** As it was read, or as the last write left it. */
  controlPlane: ControlPlane;
  readonly namespace: string;
  /** Absent: the control plane has none. */
  class?: ControlPlaneClass | undefined;
  auth?: Auth;
  addresses?: ResolvedAddresses;
  /** Nodes were given an address of their own: what they join with is kept fresh. */
  isJoinWanted?: boolean;
  /** Said at the end, when what can be done without it is done. */
  deferred?: Verdict | undefined;
  tenant?: TenantObject;
  /** It was claimed by this pass. */
  isTenantNew?: boolean;
  servingCa?: string;
  join?: JoinMaterial;
  bundles?: readonly Bundle[];
  secrets?: { readonly kubeconfig: SecretObject | undefined; readonly join: SecretObject | undefined };
  /** Digests of what is inside of the tenant by now: what the Secret says when everything is done. */
  inside?: string;
  addons?: string;
  kubeconfigSecretRef?: { readonly name: string; readonly namespace: string };
  /** What is said besides Accepted, Programmed and Ready. */
  readonly remarks: Remark[];
  /** Types of conditions about which there is nothing to be said any more. */
  readonly withdrawn: string[];
  /** When to look again though nothing happens, in milliseconds since 1970. */
  readonly wakeUps: number[];
}

/** A condition of its own, besides Accepted, Programmed and Ready. */
export interface Remark {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
  /** What makes it better is told by an event: it is not tried again. */
  readonly isAwaited?: boolean;
}

/**
 * Why a pass ends before its last step. `Accepted`: what is asked for cannot be had as it is. `Programmed`: something is not there
 * yet. `Ready`: everything is there, but not to be used.
 */
export interface Verdict {
  readonly type: 'Accepted' | 'Programmed' | 'Ready';
  readonly reason: string;
  /** For people: what is wrong, and what to do about it. */
  readonly message: string;
  /** Nobody will tell when it gets better: look again after this time. Absent: an event comes. */
  readonly lookAgainMs?: number;
  /** Others have just been asked and answer at once, mostly: nothing is said before they had the time for it. */
  readonly isUnsaid?: boolean;
}

/** Nothing: go on. */
export type Step = (pass: Pass) => Promise<Verdict | undefined> | Verdict | undefined;
