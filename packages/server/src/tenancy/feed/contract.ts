/**
 * What a feed tells. `@hangar/controllers` has the same types, as far as it needs them: neither package knows the other.
 */

import type { KubeObject } from '@hangar/api';

export interface FedResource {
  /** '' is the core group. */
  readonly group: string;
  readonly resource: string;
}

/** One object that is there, came, changed or went. */
export interface FedChange extends FedResource {
  readonly cluster: string;
  /** '' for what is in no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly type: 'put' | 'delete';
  /** It was there when the feed began, or began to tell its control plane. */
  readonly isInitial: boolean;
  /** The stored JSON, without a resourceVersion; of a deletion, what the object was last. */
  readonly bytes: Uint8Array;
  readonly resourceVersion: string;
  /** Parsed once, in the version that is stored, with its resourceVersion. Not to be changed. */
  object(): KubeObject;
}

export interface FeedListener {
  /** Asked once for each resource, or now and then: changes of others are not told. */
  wants(resource: FedResource): boolean;
  /**
   * Asked while what is there is told: undefined, or resolves when there may be more of it. What happens is told without asking. Absent:
   * always at once.
   */
  ready?(): Promise<void> | undefined;
  /** In the order of commits. Must not throw. */
  changed(change: FedChange): void;
  /** All that there was has been told. Again after each `reset`. */
  synced(): void;
  /** History was lost: what is known must be forgotten; everything that there is follows. */
  reset(): void;
  /** The control plane is there, or its `Tenant` object changed. Comes before any of its objects. `root` is never told. */
  clusterChanged(cluster: string, tenant: KubeObject): void;
  /**
   * Everything that the control plane has stored was told: it was adopted or restored, or `retell` asked for it, with this mark. Only
   * of a telling that began after the last `retell` of it: one that was under way by then tells nothing of its end.
   */
  clusterTold(cluster: string, mark?: number): void;
  /** The control plane has gone, with all that was in it. Nothing of it is told one by one. */
  clusterGone(cluster: string): void;
}
