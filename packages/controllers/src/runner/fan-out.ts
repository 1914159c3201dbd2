/**
 * From the one feed to the controllers that want each change and serve where it happened (`roster.ts`). To those that do not, a control
 * plane is as good as gone; when one takes it up again, the feed is asked to tell all of it, so that nothing that happened meanwhile is
 * missed. Until it has, what they know of it is no picture of the whole: they are told so (`clusterComing`), and others can ask
 * (`isTold`).
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
  /** Taken up, and asked for: not all of them was told yet. */
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

  /** Was all that it had stored told to whoever serves it? Before `synced`: apart from what comes with that. */
  isTold(cluster: string): boolean {
    return !this.#untold.has(cluster);
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
    // What is new is told anyway; but whoever chooses wants to know when all of it was.
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
