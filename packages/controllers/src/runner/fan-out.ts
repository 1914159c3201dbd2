/**
 * Distributes the feed to the controllers that want a change and serve its control plane (`roster.ts`). For controllers that do not serve
 * it, a control plane does not exist; when one starts to serve it again, a replay of all its objects is requested, so that no change is
 * missed. Until the replay completes, their state is incomplete: controllers receive `clusterComing`, and callers can check `isTold`.
 *
 * A replay is delivered to all controllers that serve the control plane, including home controllers that always did, which is harmless. A
 * replay for another reason at the same time (a restore) therefore also reaches all of them.
 */

import type { KubeObject } from '@hangar/api';
import type { Change, FeedListener, FleetController, FleetFeed, ResourceId } from '../contract.ts';
import type { Lane } from './lane.ts';
import { includes, Roster } from './roster.ts';
import type { Serves, Turn } from './roster.ts';

/** Tenants choose the names of their kinds: above this number, the cache of `wants` is cleared. */
const wantingMax = 20_000;

export interface FanOutOptions {
  readonly lanes: readonly Lane[];
  readonly feed: Pick<FleetFeed, 'retell' | 'has'>;
  readonly serves?: Serves | undefined;
  onSynced(): void;
}

export class FanOut implements FeedListener {
  readonly #lanes: readonly Lane[];
  readonly #feed: FanOutOptions['feed'];
  readonly #onSynced: () => void;
  /** By resource, then by group. */
  readonly #wanting = new Map<string, Map<string, readonly Lane[]>>();
  readonly #roster: Roster;
  readonly #hasChoice: boolean;
  /** Control planes with a pending replay. */
  readonly #untold = new Set<string>();
  #isSynced = false;

  constructor({ lanes, feed, serves, onSynced }: FanOutOptions) {
    this.#lanes = lanes;
    this.#feed = feed;
    this.#roster = new Roster(serves);
    this.#hasChoice = serves !== undefined;
    this.#onSynced = onSynced;
  }

  isServedBy(cluster: string, controller: FleetController): boolean {
    return this.#roster.isServedBy(cluster, controller) && this.#feed.has(cluster);
  }

  /**
   * Reports whether all stored objects of the control plane were delivered to the controllers that serve it. Before `synced`: apart from
   * initial objects.
   */
  isTold(cluster: string): boolean {
    return !this.#untold.has(cluster);
  }

  /** Evaluates again whether the set serves the control plane. */
  reconsider(cluster: string): void {
    const turn = this.#roster.reconsider(cluster);
    if (turn && turn.before !== turn.now) this.#turned(cluster, turn);
  }

  wants(resource: ResourceId): boolean {
    return this.#wantedBy(resource).length > 0;
  }

  changed(change: Change): void {
    const share = this.#roster.shareOf(change.cluster);
    if (share === 'none') return;
    for (const lane of this.#wantedBy(change)) if (includes(share, lane.controller.isHome)) lane.changed(change);
  }

  synced(): void {
    this.#isSynced = true;
    for (const lane of this.#lanes) lane.tell('synced', () => lane.controller.synced?.(lane.ask));
    this.#onSynced();
  }

  reset(): void {
    this.#isSynced = false;
    this.#roster.clear();
    this.#untold.clear();
    for (const lane of this.#lanes) lane.tell('reset', () => lane.controller.reset?.());
  }

  clusterChanged(cluster: string, tenant: KubeObject): void {
    this.#turned(cluster, this.#roster.put(cluster, tenant));
  }

  clusterTold(cluster: string): void {
    this.#untold.delete(cluster);
    for (const lane of this.#lanes) {
      if (!this.#roster.isServedBy(cluster, lane.controller)) continue;
      lane.tell('clusterTold', () => lane.controller.clusterTold?.(cluster, lane.ask));
    }
  }

  clusterGone(cluster: string): void {
    const losers = this.#lanes.filter(({ controller }) => this.#roster.isServedBy(cluster, controller));
    this.#roster.delete(cluster);
    this.#untold.delete(cluster);
    for (const lane of losers) forget(lane, cluster);
  }

  #turned(cluster: string, { before, now, tenant }: Turn): void {
    const isTakenUp = this.#lanes.some(
      ({ controller: { isHome } }) => includes(now, isHome) && !includes(before, isHome),
    );
    // Objects of a new one are delivered anyway; but a set with `serves` needs to know when the delivery is complete.
    const isNew = before === undefined;
    const isAskedFor = isTakenUp && (!isNew || (this.#hasChoice && this.#isSynced));
    if (isAskedFor) this.#untold.add(cluster);
    else if (now === 'none') this.#untold.delete(cluster);
    for (const lane of this.#lanes) {
      const { isHome } = lane.controller;
      if (includes(now, isHome)) {
        if (isAskedFor) lane.tell('clusterComing', () => lane.controller.clusterComing?.(cluster));
        lane.tell('clusterChanged', () => lane.controller.clusterChanged?.(cluster, tenant, lane.ask));
      } else if (includes(before, isHome)) forget(lane, cluster);
    }
    if (isAskedFor) this.#feed.retell(cluster);
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

function forget(lane: Lane, cluster: string): void {
  lane.dropCluster(cluster);
  lane.tell('clusterGone', () => lane.controller.clusterGone?.(cluster));
}
