/** A follower of a feed and the state that it derives. */

import type { KubeObject } from '@hangar/api';
import type { Change, FeedListener, FleetFeed, ResourceId } from '../../contract.ts';
import { rootCluster } from '../../contract.ts';

/** A feed of this process or of another one. */
type Followed = Pick<FleetFeed, 'follow'>;

export class Knowing implements FeedListener, AsyncDisposable {
  readonly told: string[] = [];
  /** Revision and content by id. */
  readonly known = new Map<string, string>();
  readonly changes: Change[] = [];
  readonly tenants = new Map<string, KubeObject>();
  isSynced = false;
  readonly #wants: (resource: ResourceId) => boolean;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(feed: Followed, wants: (resource: ResourceId) => boolean = () => true) {
    this.#wants = wants;
    this.#running = feed.follow(this, this.#stopping.signal);
  }

  wants(resource: ResourceId): boolean {
    return this.#wants(resource);
  }

  changed(change: Change): void {
    const { cluster, group, resource, namespace, name, type } = change;
    // A feed of the same process also covers the management plane.
    if (cluster === rootCluster) return;
    const id = `${cluster} ${resource}.${group} ${namespace}/${name}`;
    if (type === 'delete') this.known.delete(id);
    else this.known.set(id, `${change.resourceVersion} ${Buffer.from(change.bytes).toString()}`);
    this.changes.push(change);
    this.told.push(`${change.isInitial ? 'initial ' : ''}${type} ${cluster} ${namespace}/${name}`);
  }

  synced(): void {
    this.isSynced = true;
    this.told.push('synced');
  }

  reset(): void {
    this.isSynced = false;
    this.known.clear();
    this.tenants.clear();
    this.told.push('reset');
  }

  clusterChanged(cluster: string, tenant: KubeObject): void {
    this.tenants.set(cluster, tenant);
    this.told.push(`cluster ${cluster}`);
  }

  clusterTold(cluster: string): void {
    this.told.push(`told ${cluster}`);
  }

  clusterGone(cluster: string): void {
    this.tenants.delete(cluster);
    for (const id of this.known.keys()) if (id.startsWith(`${cluster} `)) this.known.delete(id);
    this.told.push(`gone ${cluster}`);
  }

  /** Returns the events since the last call. */
  news(): string[] {
    return this.told.splice(0);
  }

  /** The complete state, sorted. */
  get all(): string[] {
    return [...this.tenants.keys(), ...Array.from(this.known, (pair) => pair.join(' '))].sort();
  }

  /** Rejects with the error of the feed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
