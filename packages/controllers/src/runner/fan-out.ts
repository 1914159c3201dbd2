/**
 * From the one feed to the controllers that want each change and serve where it happened (`roster.ts`). To those that do not, a control
 * plane is as good as gone; when one takes it up again, the feed is asked to tell all of it, so that nothing that happened meanwhile is
 * missed.
 *
 * What is told again is told to all that serve there, also to those at home that never left: nobody minds, and a control plane that is
 * told for another reason at the same time (it was restored) is not told to some of them only.
 */

import type { KubeObject } from '@hangar/api';
import type { Change, FeedListener, FleetController, FleetFeed, ResourceId } from '../contract.ts';
import type { Lane } from './lane.ts';
import { includes, Roster } from './roster.ts';
import type { Serves, Turn } from './roster.ts';

/** Tenants choose what their kinds are called: beyond this, who wants what is asked again. */
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

  /** Whom the set serves may be another choice now. */
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
    for (const lane of this.#lanes) lane.tell('reset', () => lane.controller.reset?.());
  }

  clusterChanged(cluster: string, tenant: KubeObject): void {
    this.#turned(cluster, this.#roster.put(cluster, tenant));
  }

  clusterTold(cluster: string): void {
    for (const lane of this.#lanes) {
      if (!this.#roster.isServedBy(cluster, lane.controller)) continue;
      lane.tell('clusterTold', () => lane.controller.clusterTold?.(cluster, lane.ask));
    }
  }

  clusterGone(cluster: string): void {
    const losers = this.#lanes.filter(({ controller }) => this.#roster.isServedBy(cluster, controller));
    this.#roster.delete(cluster);
    for (const lane of losers) forget(lane, cluster);
  }

  #turned(cluster: string, { before, now, tenant }: Turn): void {
    let isTakenUp = false;
    for (const lane of this.#lanes) {
      const { isHome } = lane.controller;
      const [did, does] = [includes(before, isHome), includes(now, isHome)];
      if (does) lane.tell('clusterChanged', () => lane.controller.clusterChanged?.(cluster, tenant, lane.ask));
      else if (did) forget(lane, cluster);
      isTakenUp ||= does && !did;
    }
    // What is new is told anyway; but whoever chooses wants to know when all of it was.
    const isNew = before === undefined;
    if (isTakenUp && (!isNew || (this.#hasChoice && this.#isSynced))) this.#feed.retell(cluster);
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
