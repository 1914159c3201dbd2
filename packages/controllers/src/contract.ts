/**
 * Contract of the essential controllers: one feed of all changes in all control planes, and a client for each of them on demand. An idle
 * control plane costs nothing: it has no cache, no connection and no timer.
 *
 *     feed ──change──▶ controller.changed ──request──▶ queue (fair by control plane) ──▶ controller.reconcile ──▶ client
 *
 * The types of the feed are declared here as far as they are needed, so that this package does not depend on a server: the embedded
 * platform implements the feed with the single watch of the store.
 */

import type { KubeObject } from '@hangar/api';
import type { Client } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Request, Result } from '@hangar/runtime';

/** Name of the management plane among the control planes. */
export const rootCluster = 'root';

export interface ResourceId {
  /** '' is the core group. */
  readonly group: string;
  readonly resource: string;
}

/** One object that exists, was created, changed or deleted. */
export interface Change extends ResourceId {
  readonly cluster: string;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly type: 'put' | 'delete';
  /** True if the object existed before the feed started. */
  readonly isInitial: boolean;
  /** The stored JSON, without a resourceVersion; for a deletion, the last state. Check it before `object()`: parsing is expensive. */
  readonly bytes: Uint8Array;
  readonly resourceVersion: string;
  /** Parsed once; must not be changed. Includes the resourceVersion. */
  object(): KubeObject;
}

export interface FeedListener {
  /** Called once for each resource: changes of other resources are not delivered. */
  wants(resource: ResourceId): boolean;
  /** Called in commit order. Must not throw, and should be fast: it does not delay writes, but it delays the feed. */
  changed(change: Change): void;
  /** Called when all initial objects were delivered, again after each `reset`. */
  synced(): void;
  /** Called when history was lost: the listener drops its state; all objects are delivered again. */
  reset(): void;
  /** Called when the feed is interrupted and reconnects: `reset` and all objects follow. Only for remote feeds. */
  interrupted?(error: Error): void;
  /** Called when the control plane exists, or its `Tenant` object changed. Never called for `root`. */
  clusterChanged(cluster: string, tenant: KubeObject): void;
  /**
   * Called when all stored objects of the control plane were delivered: after it was adopted or restored, or after `retell`. Not called for
   * the initial control planes (`synced`). Only for a replay that started after the last `retell`: a replay that was running at that time
   * does not report its end.
   */
  clusterTold(cluster: string): void;
  /** Called when the control plane was deleted, including all data. No event for each object follows. */
  clusterGone(cluster: string): void;
}

/**
 * All objects that control planes have stored themselves. Objects of the base layer, which every tenant starts with, are delivered only
 * when they are changed or deleted.
 */
export interface FleetFeed {
  /**
   * Runs until the signal is aborted. Restarts after failures of the store (`reset`). `clusterChanged` of each control plane comes before
   * its objects. One listener at a time.
   */
  follow(listener: FeedListener, signal: AbortSignal): Promise<void>;
  /**
   * Delivers all stored objects of the control plane again, as at the start, in order with changes; then `clusterTold`. If the feed cannot
   * do that, it delivers everything again (`reset`).
   */
  retell(cluster: string): void;
  /** Reports whether the control plane exists, as of the last event. `root` exists if the feed covers it. */
  has(cluster: string): boolean;
}

/** The signing keys of a control plane. */
export interface ClusterKeys {
  /** CA of client certificates, in PEM. */
  readonly authority: { readonly certificate: string; readonly key: string };
  /** Signing key of service account tokens, in PEM. */
  readonly serviceAccountKey: string;
  readonly serviceAccountIssuer: string;
  /** CA of the serving certificate of the control plane, in PEM. The content of `kube-root-ca.crt`. */
  readonly servingCa: string;
  /** Address of the control plane in `cluster-info`. */
  readonly url: string;
}

/** The public part of the keys. */
export interface PublicKeys {
  /** Undefined: not known, because external clients trust public CAs. */
  readonly servingCa: string | undefined;
}

/** Dependencies of a controller that runs outside of the server: it has only the public keys of a control plane. */
export interface RemoteWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Cheap: connects on the first request. Always reads from the server. */
  readonly clientOf: (cluster: string) => Client;
  /** Cached for as long as is safe. Rejects with `NotFound` when the control plane was deleted. */
  readonly keysOf: (cluster: string) => Promise<PublicKeys>;
}

/** Dependencies of a controller that runs with access to the keys. */
export interface ControllerWorld extends RemoteWorld {
  readonly keysOf: (cluster: string) => Promise<ClusterKeys>;
}

export interface AskOptions {
  readonly afterMs?: number;
}

/** Enqueues a request for an object of a control plane. The controller defines the meaning of the name. */
export type Ask = (request: Request, options?: AskOptions) => void;

export interface FleetController {
  readonly name: string;
  /** Absent: 64. */
  readonly concurrency?: number;
  /** Maximum number of concurrent requests of one control plane. Absent: 2, so that hanging webhooks of one do not delay the others. */
  readonly perCluster?: number;
  /**
   * A home controller also serves control planes whose controllers run elsewhere, because it needs their keys, or does work that a
   * kube-controller-manager does not do by default.
   */
  readonly isHome?: true;
  wants(resource: ResourceId): boolean;
  /** Fast and synchronous: records state, and enqueues requests. */
  changed(change: Change, ask: Ask): void;
  /** Called when all initial objects were delivered: requests that depend on the complete state (a missing owner) may be enqueued now. */
  synced?(ask: Ask): void;
  reset?(): void;
  clusterChanged?(cluster: string, tenant: KubeObject, ask: Ask): void;
  /**
   * Called when the set starts to serve the control plane and requests its objects: until `clusterTold`, the known state is incomplete,
   * although changes are delivered meanwhile. `synced` may come before. Decisions that depend on the complete state must wait.
   */
  clusterComing?(cluster: string): void;
  /**
   * Like `synced`, for one control plane that was added later, or is served here again. May be repeated: home controllers receive the
   * replay that other controllers requested.
   */
  clusterTold?(cluster: string, ask: Ask): void;
  /** Called when the control plane was deleted, or is no longer served here: drop its state. Its queued requests are dropped. */
  clusterGone?(cluster: string): void;
  /**
   * As in the runtime: rejections are retried with back-off, except those with the code `Terminal`. Equal requests never run concurrently.
   * Must be correct for any change since the request was enqueued.
   */
  reconcile(request: Request, context: ControllerContext): Promise<Result | void>;
}

export interface ControllerContext {
  /** Client of the control plane of the request. */
  readonly client: Client;
  /** Aborted when the control plane is deleted or no longer served, the set stops, or the reconcile takes longer than a minute. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly ask: Ask;
}
