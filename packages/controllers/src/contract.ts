/**
 * What the essential controllers stand on: one feed of everything that happens in all control planes, and a client for each of them on
 * demand. A control plane in which nothing happens costs nothing here: there is no cache of it, no connection, no timer.
 *
 *     feed ──change──▶ controller.changed ──request──▶ queue (fair by control plane) ──▶ controller.reconcile ──▶ client
 *
 * The feed's types are written here as far as they are needed, so that this package does not depend on a server: the embedded platform's
 * is made of the store's one watch.
 */

import type { KubeObject } from '@hangar/api';
import type { Client } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Request, Result } from '@hangar/runtime';

/** The management plane, among the names of control planes. */
export const rootCluster = 'root';

export interface ResourceId {
  /** '' is the core group. */
  readonly group: string;
  readonly resource: string;
}

/** One object that is there, came, changed or went. */
export interface Change extends ResourceId {
  readonly cluster: string;
  /** '' for what is in no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly type: 'put' | 'delete';
  /** It was there when the feed began; nobody knows for how long. */
  readonly isInitial: boolean;
  /** The stored JSON, without a resourceVersion; of a deletion, what the object was last. Look here first: parsing costs. */
  readonly bytes: Uint8Array;
  readonly resourceVersion: string;
  /** Parsed once, however often it is asked for; not to be changed. With its resourceVersion. */
  object(): KubeObject;
}

export interface FeedListener {
  /** Asked once for each resource: changes of others are not told. */
  wants(resource: ResourceId): boolean;
  /** In the order of commits. Must not throw, and should be quick: writes are waiting for nobody, but the feed is. */
  changed(change: Change): void;
  /** All that there was has been told. Again after each `reset`. */
  synced(): void;
  /** History was lost: what is known must be forgotten; everything that there is follows. */
  reset(): void;
  /** Nothing can be told for now, and it is tried again: `reset` and everything that there is follow. Of feeds from elsewhere only. */
  interrupted?(error: Error): void;
  /** The control plane is there, or its `Tenant` object changed. `root` never is told. */
  clusterChanged(cluster: string, tenant: KubeObject): void;
  /**
   * Everything that the control plane has stored was told: after it was adopted, restored or asked for by `retell`. Not of those that
   * were there at the beginning (`synced`). Only of a telling that began after the last `retell` of it: one that was under way by then
   * tells nothing of its end.
   */
  clusterTold(cluster: string): void;
  /** The control plane has gone, with all that was in it. Nothing of it is told one by one. */
  clusterGone(cluster: string): void;
}

/**
 * All objects that control planes have stored themselves. What every tenant is born with (the base layer) is told only when it is
 * changed or deleted.
 */
export interface FleetFeed {
  /**
   * Until the signal. Survives failures of the store by beginning anew (`reset`). Each control plane's `clusterChanged` is told before
   * any of its objects. One listener at a time.
   */
  follow(listener: FeedListener, signal: AbortSignal): Promise<void>;
  /**
   * Tells what the control plane has stored once more, as at the beginning, in order with what changes; then `clusterTold`. Where that
   * cannot be asked for, everything is told anew (`reset`).
   */
  retell(cluster: string): void;
  /** Is it there, as of what was told last? `root` is, for a feed that tells of it. */
  has(cluster: string): boolean;
}

/** What a control plane signs with. */
export interface ClusterKeys {
  /** Signs clients' certificates; PEM. */
  readonly authority: { readonly certificate: string; readonly key: string };
  /** Signs tokens of service accounts; PEM. */
  readonly serviceAccountKey: string;
  readonly serviceAccountIssuer: string;
  /** Of the port that clients of the control plane see; PEM. What `kube-root-ca.crt` says. */
  readonly servingCa: string;
  /** Where the control plane is reached: what `cluster-info` says. */
  readonly url: string;
}

/** What of it everybody may know. */
export interface PublicKeys {
  /** Undefined: not known, since whoever comes from outside trusts what everybody does. */
  readonly servingCa: string | undefined;
}

/** What a controller is made with that works from outside: of a control plane's keys it knows what everybody may know. */
export interface RemoteWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Cheap: nothing is opened before something is asked. Always asks the server. */
  readonly clientOf: (cluster: string) => Client;
  /** Cached for as long as is safe. Rejects with NotFound when the control plane has gone. */
  readonly keysOf: (cluster: string) => Promise<PublicKeys>;
}

/** What every controller is made with that works where the keys are. */
export interface ControllerWorld extends RemoteWorld {
  readonly keysOf: (cluster: string) => Promise<ClusterKeys>;
}

export interface AskOptions {
  readonly afterMs?: number;
}

/** A request: which object of which control plane should be looked at. Names may stand for whatever the controller likes. */
export type Ask = (request: Request, options?: AskOptions) => void;

export interface FleetController {
  readonly name: string;
  /** Absent: 64. */
  readonly concurrency?: number;
  /** How many requests of one control plane may be under way at a time. Absent: 2, so that one whose webhooks hang holds up nobody else. */
  readonly perCluster?: number;
  /**
   * It stays at home: control planes whose controllers others run are served by it all the same, because it needs their keys, or does
   * what a kube-controller-manager leaves out unless it is told to.
   */
  readonly isHome?: true;
  wants(resource: ResourceId): boolean;
  /** Quick and synchronous: notes what it must remember, and asks for what is to be done. */
  changed(change: Change, ask: Ask): void;
  /** Everything that there was has been told: what only makes sense with all of it (a missing owner) may be asked for now. */
  synced?(ask: Ask): void;
  reset?(): void;
  clusterChanged?(cluster: string, tenant: KubeObject, ask: Ask): void;
  /**
   * The control plane was taken up, and its objects are being asked for: until `clusterTold` what is known of it may be anything
   * between nothing and all, though what happens there is told meanwhile. `synced` may come before. What can only be said with all of
   * it at hand must wait.
   */
  clusterComing?(cluster: string): void;
  /**
   * Like `synced`, of one control plane that came later, or is no longer left to others. May come again for one that was told before:
   * whoever stays at home is told with those that come back.
   */
  clusterTold?(cluster: string, ask: Ask): void;
  /** It has gone, or is left to others from now on: what is known of it must be forgotten. What was asked of it is dropped. */
  clusterGone?(cluster: string): void;
  /**
   * As of runtime: rejections are retried with back-off, those with the code `Terminal` are not. Never two equal requests at a time.
   * Must be right whatever happened since it was asked for.
   */
  reconcile(request: Request, context: ControllerContext): Promise<Result | void>;
}

export interface ControllerContext {
  /** Of the request's control plane. */
  readonly client: Client;
  /** Fires when the control plane goes or is left to others, the set stops, or the reconcile takes longer than a minute. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly ask: Ask;
}
