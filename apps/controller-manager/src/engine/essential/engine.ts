/**
 * The essential controllers for clusters that are tenants of a Hangar: one set and one feed for all of them, in this process. Events of a
 * cluster come from the feed of its Hangar; changes are made with the kubeconfig of the cluster, while the cluster is owned.
 *
 * A cluster is served when it is assigned to this engine (`serve`) and its Tenant assigns its controllers to the requesting object. See
 * README.md.
 */

import type { KubeObject } from '@hangar/api';
import { httpTransport } from '@hangar/client';
import type { Client } from '@hangar/client';
import { EssentialControllers, remoteControllers } from '@hangar/controllers';
import type { FleetFeed, PublicKeys } from '@hangar/controllers';
import { Gauge } from '@hangar/core';
import type { Clock, Logger, Random, Timer } from '@hangar/core';
import type { MetricsRegistry } from '@hangar/runtime';
import type { Assignment, Engine, Kubeconfigs, Serving } from '../../contract.ts';
import { Charge } from './charge.ts';
import type { ChargeWorld, FeedState } from './charge.ts';
import { Connections } from './connections.ts';
import type { OpenOptions } from './open-connection.ts';
import { EssentialError } from './errors.ts';
import { HandedOver } from './handed-over.ts';
import { feedUnavailable, noScheduler } from './states.ts';
import type { Said } from './states.ts';
import { watchedFeed } from './watched-feed.ts';
import type { FeedWatcher } from './watched-feed.ts';

export interface EssentialEngineOptions {
  /** Feed of the Hangar whose tenants the clusters are. */
  readonly feed: FleetFeed;
  readonly kubeconfigs: Pick<Kubeconfigs, 'read'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics?: MetricsRegistry | undefined;
  /** Shows in audit logs which replica acted. Absent: `hangar-controller-manager`. */
  readonly userAgent?: string | undefined;
  /** Absent: over HTTP. */
  readonly connect?: OpenOptions['connect'] | undefined;
}

export interface EssentialEngine extends Engine {
  /** Runs until the signal; resolves when all work is done. Called once. Nothing happens before. */
  run(signal: AbortSignal): Promise<void>;
}

export const essentialEngine = (options: EssentialEngineOptions): EssentialEngine => new InProcessEngine(options);

/** A shorter outage of the feed is not reported, because every cluster would report it. */
const awayMs = 30_000;
/** The same for a feed that was never available: reported sooner. */
const missingMs = 3_000;
/** Short, because other clusters wait for the connection. */
const connectTimeoutMs = 5_000;

class InProcessEngine implements EssentialEngine, FeedWatcher {
  readonly name = 'essential';
  readonly #clock: Clock;
  readonly #controllers: EssentialControllers;
  readonly #connections: Connections;
  readonly #world: ChargeWorld;
  readonly #handedOver = new HandedOver();
  /** By the names of the clusters. */
  readonly #charges = new Map<string, Charge>();
  readonly #feed: { isSynced: boolean; away: Said | undefined } & FeedState = { isSynced: false, away: undefined };
  #away: Timer | undefined;
  #hasBeenThere = false;
  /** Why the feed is unavailable. */
  #interruption: Said | undefined;
  /** Clusters whose Tenant event is being delivered. */
  #affected: readonly string[] = [];

  constructor(options: EssentialEngineOptions) {
    const { clock, random, log, kubeconfigs, userAgent = 'hangar-controller-manager' } = options;
    const { connect = (config) => httpTransport(config, { clock, connectTimeoutMs }) } = options;
    this.#clock = clock;
    this.#connections = new Connections({ kubeconfigs, clock, connect });
    if (options.metrics) countConnections(options.metrics, this.#connections);
    this.#world = { clock, random, userAgent, connections: this.#connections, feed: this.#feed };
    this.#controllers = new EssentialControllers({
      clock,
      random,
      log,
      registry: options.metrics,
      feed: watchedFeed(options.feed, this),
      controllers: remoteControllers,
      serves: (path) => this.#chargeAt(path) !== undefined,
      clientOf: (path) => this.#clientOf(path),
      keysOf: (path) => this.#keysOf(path),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#controllers.run(signal);
    } finally {
      this.#away?.cancel();
      this.#connections.close();
    }
  }

  serve(assignment: Assignment): Serving {
    if (assignment.service !== 'controllers') {
      assignment.report({ ...noScheduler, restarts: 0, lastError: noScheduler.message });
      return { update: () => {}, stop: () => Promise.resolve() };
    }
    const charge = new Charge(this.#world, assignment);
    this.#charges.set(charge.cluster.name, charge);
    this.#bind(charge);
    charge.say();
    let stopped: Promise<void> | undefined;
    return {
      update: (cluster) => charge.update(cluster),
      stop: () => (stopped ??= this.#stop(charge)),
    };
  }

  async #stop(charge: Charge): Promise<void> {
    const { path, cluster } = charge;
    charge.close();
    if (this.#charges.get(cluster.name) === charge) this.#charges.delete(cluster.name);
    if (path !== undefined) {
      this.#controllers.reconsider(path);
      await this.#controllers.drained(path);
    }
    await charge.drained();
  }

  /** Updates the binding from the Tenants. */
  #bind(charge: Charge): void {
    const { name } = charge.cluster;
    const path = this.#handedOver.pathOf(name, charge.key);
    const isSuspended = path !== undefined && this.#handedOver.isSuspended(path);
    charge.bind({ path, isSuspended, awaited: this.#handedOver.tenantOf(name) });
    if (path !== undefined) this.#controllers.reconsider(path);
  }

  #chargeAt(path: string): Charge | undefined {
    const cluster = this.#handedOver.clusterAt(path);
    const charge = cluster === undefined ? undefined : this.#charges.get(cluster);
    return charge && this.#handedOver.pathOf(cluster!, charge.key) === path ? charge : undefined;
  }

  #clientOf(path: string): Client {
    return this.#insist(path).client;
  }

  async #keysOf(path: string): Promise<PublicKeys> {
    return this.#insist(path).keys();
  }

  #insist(path: string): Charge {
    const charge = this.#chargeAt(path);
    if (!charge) throw new EssentialError('NotServed', `control plane "${path}" is not served by this replica`);
    return charge;
  }

  #bindAll(clusters: Iterable<string>): void {
    for (const cluster of clusters) {
      const charge = this.#charges.get(cluster);
      if (charge) this.#bind(charge);
    }
  }

  tenantComes(path: string, tenant: KubeObject): void {
    this.#affected = this.#handedOver.put(path, tenant);
  }

  tenantCame(): void {
    this.#bindAll(this.#affected);
  }

  tenantGone(path: string): void {
    this.#bindAll(this.#handedOver.delete(path));
  }

  told(path: string): void {
    this.#chargeAt(path)?.told(this.#controllers.isTold(path));
  }

  synced(): void {
    this.#away?.cancel();
    this.#away = undefined;
    this.#feed.isSynced = true;
    this.#feed.away = undefined;
    this.#hasBeenThere = true;
    for (const charge of this.#charges.values()) {
      this.#bind(charge);
      // Clusters that were added meanwhile are reported as synced separately.
      charge.told(charge.path !== undefined && this.#controllers.isTold(charge.path));
    }
  }

  reset(): void {
    this.#feed.isSynced = false;
    this.#handedOver.clear();
    for (const charge of this.#charges.values()) charge.told(false);
  }

  interrupted(error: Error): void {
    this.#feed.isSynced = false;
    this.#interruption = feedUnavailable(error);
    if (this.#feed.away) this.#setAway();
    // Unavailable since the first failure.
    else this.#away ??= this.#clock.after(this.#hasBeenThere ? awayMs : missingMs, () => this.#setAway());
  }

  #setAway(): void {
    this.#feed.away = this.#interruption;
    for (const charge of this.#charges.values()) charge.say();
  }
}

function countConnections(metrics: MetricsRegistry, connections: Connections): void {
  const open = new Gauge('hangar_essential_connections', 'Clusters with an open connection.');
  metrics.register(open);
  metrics.onScrape(() => open.set('', connections.size));
}
