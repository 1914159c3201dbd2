/**
 * All clusters of the fleet, and the services that this process runs for the owned ones. Nothing here waits for a cluster, so none delays
 * another.
 */

import { aborted, attempted } from '@hangar/core';
import type { Logger } from '@hangar/core';
import type { Coordinator } from '@hangar/runtime/clusters';
import type { ClusterRow, Engine, Fleet, FleetCluster, Service } from '../contract.ts';
import { Member } from './member.ts';
import type { MemberWorld } from './member.ts';
import type { Announcements } from './seat.ts';

export interface RegistryOptions {
  readonly fleet: Fleet;
  /** Decides which clusters this process owns. */
  readonly coordinator: Coordinator;
  readonly conditions: Announcements;
  readonly engineFor: (service: Service) => Engine;
  readonly log: Logger;
  /** Called when a row has changed. */
  readonly onChange?: () => void;
}

export class Registry {
  readonly #options: RegistryOptions;
  readonly #world: MemberWorld;
  readonly #members = new Map<string, Member>();
  #isSynced = false;
  #isStopping = false;

  constructor(options: RegistryOptions) {
    const { coordinator, conditions: announcements, engineFor, onChange = () => {} } = options;
    this.#options = options;
    const isToldElsewhere: MemberWorld['isToldElsewhere'] = (source, service, but) =>
      this.#members.values().some((member) => member !== but && member.isAskedFor(service, source));
    this.#world = { coordinator, announcements, engineFor, isToldElsewhere, onState: onChange };
  }

  /** The initial clusters are known. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  *rows(): Generator<ClusterRow, void, void> {
    for (const member of this.#members.values()) yield member.row();
  }

  /**
   * Runs until the signal; resolves when nothing runs any longer and the coordinator has released everything. Rejects with the error of the
   * fleet or the coordinator, after the same. Called once.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { fleet, coordinator } = this.#options;
    const following = new AbortController();
    const coordinating = new AbortController();
    const listener = {
      changed: (cluster: FleetCluster) => this.#changed(cluster),
      gone: (name: string) => this.#gone(name),
      synced: () => {
        this.#isSynced = true;
        this.#world.onState();
      },
    };
    const running = [
      attempted(() => fleet.follow(listener, following.signal)),
      attempted(() => coordinator.run(coordinating.signal)),
    ];
    const failed = new Promise<never>((_resolve, reject) => running.forEach((one) => void one.catch(reject)));
    try {
      await Promise.race([aborted(signal), failed]);
    } finally {
      this.#isStopping = true;
      following.abort();
      await Promise.all(Array.from(this.#members.values(), (member) => member.stop()));
      // Only now: the next owner of a cluster gets it at rest.
      coordinating.abort();
      await Promise.allSettled(running);
    }
  }

  #changed(cluster: FleetCluster): void {
    if (this.#isStopping) return;
    let member = this.#members.get(cluster.name);
    if (!member) this.#members.set(cluster.name, (member = new Member(this.#world, cluster)));
    member.changed(cluster);
  }

  /** Kept until nothing of it runs: if the cluster is added again before, there are not two members. */
  #gone(name: string): void {
    const member = this.#members.get(name);
    if (!member || this.#isStopping) return;
    void member.gone().then(() => {
      const isOver = member.isGone && member.isAtRest;
      if (isOver && this.#members.get(name) === member) this.#members.delete(name);
      this.#world.onState();
    });
  }
}
