/**
 * From the one feed to the controllers that want each change. Control planes that are left alone are as good as gone to all of them;
 * when one is taken up again, the feed is asked to tell all of it, so that nothing that happened meanwhile is missed.
 */

import type { KubeObject } from '@hangar/api';
import type { Change, FeedListener, FleetFeed, ResourceId } from '../contract.ts';
import type { Lane } from './lane.ts';
import { isLeftAlone } from './left-alone.ts';

/** Tenants choose what their kinds are called: beyond this, who wants what is asked again. */
const wantingMax = 20_000;

export interface FanOutOptions {
  readonly lanes: readonly Lane[];
  readonly feed: Pick<FleetFeed, 'retell' | 'has'>;
  onSynced(): void;
}

export class FanOut implements FeedListener {
  readonly #lanes: readonly Lane[];
  readonly #feed: FanOutOptions['feed'];
  readonly #onSynced: () => void;
  /** By resource, then by group. */
  readonly #wanting = new Map<string, Map<string, readonly Lane[]>>();
  readonly #leftAlone = new Set<string>();

  constructor({ lanes, feed, onSynced }: FanOutOptions) {
    this.#lanes = lanes;
    this.#feed = feed;
    this.#onSynced = onSynced;
  }

  isServed(cluster: string): boolean {
    return !this.#leftAlone.has(cluster) && this.#feed.has(cluster);
  }

  wants(resource: ResourceId): boolean {
    return this.#wantedBy(resource).length > 0;
  }

  changed(change: Change): void {
    if (this.#leftAlone.size > 0 && this.#leftAlone.has(change.cluster)) return;
    for (const lane of this.#wantedBy(change)) lane.changed(change);
  }

  synced(): void {
    for (const lane of this.#lanes) lane.tell('synced', () => lane.controller.synced?.(lane.ask));
    this.#onSynced();
  }

  reset(): void {
    this.#leftAlone.clear();
    for (const lane of this.#lanes) lane.tell('reset', () => lane.controller.reset?.());
  }

  clusterChanged(cluster: string, tenant: KubeObject): void {
    const was = this.#leftAlone.has(cluster);
    const is = isLeftAlone(tenant);
    if (is) {
      this.#leftAlone.add(cluster);
      if (!was) this.#forget(cluster);
      return;
    }
    this.#leftAlone.delete(cluster);
    for (const lane of this.#lanes) {
      lane.tell('clusterChanged', () => lane.controller.clusterChanged?.(cluster, tenant, lane.ask));
    }
    if (was) this.#feed.retell(cluster);
  }

  clusterTold(cluster: string): void {
    if (this.#leftAlone.has(cluster)) return;
    for (const lane of this.#lanes) {
      lane.tell('clusterTold', () => lane.controller.clusterTold?.(cluster, lane.ask));
    }
  }

  clusterGone(cluster: string): void {
    this.#leftAlone.delete(cluster);
    this.#forget(cluster);
  }

  #forget(cluster: string): void {
    for (const lane of this.#lanes) {
      lane.dropCluster(cluster);
      lane.tell('clusterGone', () => lane.controller.clusterGone?.(cluster));
    }
  }

  #wantedBy({ group, resource }: ResourceId): readonly Lane[] {
    let byGroup = this.#wanting.get(resource);
    if (!byGroup) {
      if (this.#wanting.size >= wantingMax) this.#wanting.clear();
      this.#wanting.set(resource, (byGroup = new Map()));
    }
    let lanes = byGroup.get(group);
    if (!lanes) {
      if (byGroup.size >= wantingMax) byGroup.clear();
      lanes = this.#lanes.filter(({ controller }) => controller.wants({ group, resource }));
      byGroup.set(group, lanes);
    }
    return lanes;
  }
}
