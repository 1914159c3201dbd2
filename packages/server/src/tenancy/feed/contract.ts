/** Types of a feed. `@hangar/controllers` declares the same types, as far as it uses them; the packages do not depend on each other. */

import type { KubeObject } from '@hangar/api';

export interface FedResource {
  /** '' is the core group. */
  readonly group: string;
  readonly resource: string;
}

/** One object that exists, or was created, changed or deleted. */
export interface FedChange extends FedResource {
  readonly cluster: string;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly type: 'put' | 'delete';
  /** The object existed when the feed started, or when it started to send the control plane. */
  readonly isInitial: boolean;
  /** Stored JSON, without a resourceVersion; for a deletion, the last state. */
  readonly bytes: Uint8Array;
  readonly resourceVersion: string;
  /** Returns the object in its stored version, with its resourceVersion. Parsed once; must not be changed. */
  object(): KubeObject;
}

export interface FeedListener {
  /** Called once or occasionally for each resource: changes of other resources are not sent. */
  wants(resource: FedResource): boolean;
  /**
   * Called during the initial state: returns undefined, or a promise that resolves when the listener accepts more. Later changes are sent
   * without this call. Absent: always ready.
   */
  ready?(): Promise<void> | undefined;
  /** Called in the order of commits. Must not throw. */
  changed(change: FedChange): void;
  /** Called when the initial state is complete. Again after each `reset`. */
  synced(): void;
  /** Called when history was lost: the listener must drop its state. The whole state follows. */
  reset(): void;
  /** Called when the control plane exists, or its `Tenant` object changed; before any of its objects. Never called for `root`. */
  clusterChanged(cluster: string, tenant: KubeObject): void;
  /**
   * Called when the whole state of the control plane was sent: after it was adopted or restored, or after `retell`, with its mark. If
   * `retell` is called again while the state is being sent, only the last one is reported.
   */
  clusterTold(cluster: string, mark?: number): void;
  /** Called when the control plane was deleted with all its objects. They are not reported individually. */
  clusterGone(cluster: string): void;
}
