/** One cluster of the fleet: its ownership, and the services that run for it here. */

import type { Coordinator, Ownership } from '@hangar/runtime/clusters';
import { Right } from '@hangar/runtime/clusters';
import { services } from '../contract.ts';
import type { ClusterRow, Engine, FleetCluster, Service, ServiceState, SourceObject } from '../contract.ts';
import { ofService } from '../fleet/index.ts';
import { Seat } from './seat.ts';
import type { Announcements } from './seat.ts';

export interface MemberWorld {
  readonly coordinator: Coordinator;
  readonly announcements: Announcements;
  readonly engineFor: (service: Service) => Engine;
  /** Reports whether another member has the object's condition now: the object names another control plane than before. */
  readonly isToldElsewhere: (source: SourceObject, service: Service, but: Member) => boolean;
  /** Called when the state of a member has changed. */
  readonly onState: () => void;
}

export class Member {
  readonly #world: MemberWorld;
  readonly #right: Right;
  readonly #seats = new Map<Service, Seat>();
  #cluster: FleetCluster;
  #isGone = false;

  constructor(world: MemberWorld, cluster: FleetCluster) {
    this.#world = world;
    this.#cluster = cluster;
    this.#right = new Right({
      coordinator: world.coordinator,
      onAcquired: () => this.#seat(),
      onEnded: () => void this.#leaveAll(),
      drained: () => this.#leaveAll(),
    });
  }

  /** True until the cluster is added again. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Reports whether nothing of it runs here or is about to. */
  get isAtRest(): boolean {
    return this.#seats.values().every((seat) => seat.state === undefined);
  }

  /** Reports whether this very object requests the service. */
  isAskedFor(service: Service, { uid }: SourceObject): boolean {
    return !this.#isGone && this.#cluster.services.has(service) && ofService(this.#cluster, service).source.uid === uid;
  }

  /** Also called for the first state. */
  changed(cluster: FleetCluster): void {
    const before = this.#cluster;
    this.#cluster = cluster;
    this.#isGone = false;
    if (this.#right.ownership) this.#withdraw(before);
    this.#right.follow(cluster);
    this.#seat();
  }

  /** Resolves when nothing of it runs here any longer. */
  async gone(): Promise<void> {
    this.#isGone = true;
    if (this.#right.ownership) this.#withdraw(this.#cluster);
    // Ownership is released last: a graceful stop requires it.
    await this.#leaveAll();
    if (this.#isGone) this.#right.leave();
  }

  /** Called on shutdown: the next owner of the cluster takes over its conditions. */
  async stop(): Promise<void> {
    this.#isGone = true;
    await this.#leaveAll();
    this.#right.leave();
  }

  row(): ClusterRow {
    const states = new Map<Service, ServiceState>();
    const engines = new Map<Service, Engine['name']>();
    for (const [service, seat] of this.#seats) {
      engines.set(service, seat.engine.name);
      if (seat.state) states.set(service, seat.state);
    }
    return { cluster: this.#cluster, isOwned: this.#right.ownership !== undefined, engines, states };
  }

  /** Starts the wanted services, if the cluster is owned. */
  #seat(): void {
    const ownership: Ownership | undefined = this.#right.ownership;
    if (!ownership || this.#isGone) return;
    for (const service of services) {
      const seat = this.#seats.get(service);
      if (this.#cluster.services.has(service)) (seat ?? this.#newSeat(service)).want(this.#cluster, ownership);
      else void seat?.leave();
    }
  }

  /** Removes the conditions of services that are no longer requested. */
  #withdraw(before: FleetCluster): void {
    for (const service of before.services) {
      if (!this.isAskedFor(service, ofService(before, service).source)) void this.#withdrawService(service, before);
    }
  }

  /** Only when nothing runs any longer: until then the cluster must not look unowned. */
  async #withdrawService(service: Service, before: FleetCluster): Promise<void> {
    await this.#seats.get(service)?.leave();
    const { source } = ofService(before, service);
    const { announcements, isToldElsewhere } = this.#world;
    const isTold = this.isAskedFor(service, source) || isToldElsewhere(source, service, this);
    if (!isTold) announcements.remove(source, service);
    this.#seat();
  }

  #newSeat(service: Service): Seat {
    const { engineFor, announcements, onState, isToldElsewhere } = this.#world;
    const isOurs = (source: SourceObject): boolean => !isToldElsewhere(source, service, this);
    const seat = new Seat({ service, engine: engineFor(service), announcements, isOurs, onState });
    this.#seats.set(service, seat);
    return seat;
  }

  async #leaveAll(): Promise<void> {
    await Promise.all(Array.from(this.#seats.values(), (seat) => seat.leave()));
  }
}
