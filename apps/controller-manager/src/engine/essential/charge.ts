/**
 * One cluster that this engine serves: whether its Tenant is assigned to us, its connection, and its reported state. An idle cluster costs
 * little more than this object.
 */

import { RestClient } from '@hangar/client';
import type { Client } from '@hangar/client';
import type { PublicKeys } from '@hangar/controllers';
import type { Clock, Random, Timer } from '@hangar/core';
import type { Assignment, FleetCluster } from '../../contract.ts';
import { ofService } from '../../fleet/index.ts';
import { ClusterTransport } from './cluster-transport.ts';
import type { Connections, Target } from './connections.ts';
import { keyOfSource } from './handed-over.ts';
import {
  atWork,
  handOverMs,
  notHandedOver,
  suspended,
  takingOver,
  waitingForFeed,
  waitingForHandoff,
} from './states.ts';
import type { Said } from './states.ts';
import { tenantAt } from './tenant-address.ts';
import { Trouble } from './trouble.ts';
import { WriteGate } from './write-gate.ts';

export interface ChargeWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly userAgent: string;
  readonly connections: Connections;
  readonly feed: FeedState;
}

/** State of the feed. */
export interface FeedState {
  readonly isSynced: boolean;
  /** Set when the feed has been unavailable for a while. */
  readonly away: Said | undefined;
}

/** The state of the Tenants of a cluster. */
export interface Bond {
  /** Path of the Tenant whose controllers are assigned to the requesting object. */
  readonly path: string | undefined;
  readonly isSuspended: boolean;
  /** Path of a Tenant of this cluster whose controllers may still be assigned to us. */
  readonly awaited: string | undefined;
}

export class Charge implements Target {
  /** Key of the requesting object, as Tenants reference it. */
  readonly key: string;
  readonly #world: ChargeWorld;
  readonly #report: Assignment['report'];
  readonly #gate: WriteGate;
  #cluster: FleetCluster;
  /** Path of its Tenant, while that is assigned to us. */
  #path: string | undefined;
  #isSuspended = false;
  #awaited: string | undefined;
  #isTold = false;
  /** Monotonic time since when there is no Tenant. */
  #lonelyMs: number;
  #lonely: Timer | undefined;
  #isStopped = false;
  #said: Said | undefined;
  #saidError: string | undefined;
  #trouble: Trouble | undefined;
  #client: Client | undefined;
  #closing: AbortController | undefined;

  constructor(world: ChargeWorld, { cluster, ownership, report }: Assignment) {
    this.#world = world;
    this.#cluster = ofService(cluster, 'controllers');
    this.#report = report;
    this.key = keyOfSource(this.#cluster.source);
    this.#gate = new WriteGate({ name: cluster.name, clock: world.clock, ownership });
    this.#lonelyMs = world.clock.monotonicMs();
  }

  get cluster(): FleetCluster {
    return this.#cluster;
  }

  get path(): string | undefined {
    return this.#path;
  }

  get client(): Client {
    return (this.#client ??= this.#newClient());
  }

  /** Returns the CA that clients of the cluster trust. */
  async keys(): Promise<PublicKeys> {
    this.#closing ??= new AbortController();
    const lease = await this.#world.connections.take(this, this.#closing.signal);
    try {
      const { ca, renewedCa, isInsecure } = lease.connection.config;
      return { servingCa: isInsecure ? undefined : (ca ?? (await renewedCa?.())) };
    } finally {
      lease.release();
    }
  }

  /** Sets its Tenant, or none. */
  bind({ path, isSuspended, awaited }: Bond): void {
    const isSame = path === this.#path && isSuspended === this.#isSuspended;
    if (isSame && awaited === this.#awaited) return;
    this.#awaited = awaited;
    if (!isSame) {
      if (path === undefined) this.#lonelyMs = this.#world.clock.monotonicMs();
      // The open connection was checked against the previous Tenant.
      if (path !== this.#path) this.#world.connections.drop(this);
      this.#path = path;
      this.#isSuspended = isSuspended;
      this.#isTold = false;
    }
    this.say();
  }

  /** Sets whether the feed has delivered all stored objects of the cluster. */
  told(isTold: boolean): void {
    this.#isTold = isTold;
    this.say();
  }

  update(cluster: FleetCluster): void {
    const before = this.#cluster;
    this.#cluster = ofService(cluster, 'controllers');
    const { address, secret } = this.#cluster;
    const isSame =
      address === before.address &&
      secret?.namespace === before.secret?.namespace &&
      secret?.name === before.secret?.name;
    if (isSame) return;
    this.#world.connections.drop(this);
    this.#trouble?.clear();
    this.say();
  }

  /** Stops all writes and reports. */
  close(): void {
    this.#isStopped = true;
    this.#lonely?.cancel();
    this.#closing?.abort();
    this.#gate.close();
  }

  /** After `close`: resolves when no request is in flight. */
  async drained(): Promise<void> {
    await this.#gate.drained();
    this.#world.connections.drop(this);
  }

  onClosed(): void {
    this.#client = undefined;
  }

  /** Reports the state if it has changed. */
  say(): void {
    if (this.#isStopped) return;
    const now = this.#current();
    const lastError = this.#trouble?.lastError;
    const before = this.#said;
    const isSame = before?.reason === now.reason && before.message === now.message && before.phase === now.phase;
    if (isSame && lastError === this.#saidError) return;
    this.#said = now;
    this.#saidError = lastError;
    this.#report({ ...now, restarts: 0, ...(lastError === undefined ? {} : { lastError }) });
  }

  #current(): Said {
    const { away, isSynced } = this.#world.feed;
    if (away) return away;
    // A feed that restarts is back soon: the last state holds until then.
    if (!isSynced) return this.#said ?? waitingForFeed;
    if (this.#path === undefined) return this.#alone();
    this.#lonely?.cancel();
    this.#lonely = undefined;
    if (this.#isSuspended) return suspended;
    if (!this.#isTold) return takingOver;
    return this.#trouble?.said ?? atWork;
  }

  #alone(): Said {
    if (this.#isAwaited()) return waitingForHandoff;
    const { clock } = this.#world;
    const leftMs = this.#lonelyMs + handOverMs - clock.monotonicMs();
    if (leftMs <= 0) return notHandedOver(this.key);
    this.#lonely ??= clock.after(leftMs, () => {
      this.#lonely = undefined;
      this.say();
    });
    return waitingForHandoff;
  }

  /** The Tenant may be assigned to us late. A registration has the address of its cluster, which may be outside the Hangar. */
  #isAwaited(): boolean {
    const { address, source } = this.#cluster;
    if (this.#awaited === undefined || address === undefined) return this.#awaited !== undefined;
    const at = tenantAt(address) ?? (source.kind === 'ControlPlaneEndpoint' ? this.#awaited : undefined);
    return at === this.#awaited;
  }

  #newClient(): Client {
    const { connections, userAgent, clock, random } = this.#world;
    const transport = new ClusterTransport({
      connections,
      target: this,
      gate: this.#gate,
      onAnswer: (answer) => {
        if (!this.#trouble && answer.status !== 401 && answer.refusal === undefined) return;
        (this.#trouble ??= new Trouble()).answered(answer);
        this.say();
      },
      onFailure: (error) => {
        (this.#trouble ??= new Trouble()).failed(error);
        this.say();
      },
    });
    return new RestClient(transport, { userAgent, clock, random });
  }
}
