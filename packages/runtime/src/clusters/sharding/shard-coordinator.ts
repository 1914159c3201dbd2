/**
 * The coordinator of one of several processes that share the discovered clusters. README.md has the protocol and the proof that no cluster
 * has two owners; `timings.ts` has the bounds.
 */

import { hostname } from 'node:os';
import { assert, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { parseLabelSelector } from '@hangar/api/selectors';
import type { Client } from '@hangar/client';
import type { ClusterName } from '../../cluster.ts';
import { RuntimeError } from '../../errors.ts';
import type { MetricsRegistry } from '../../metrics/registry.ts';
import type { Claim, Coordinator, DiscoveredCluster } from '../contract.ts';
import { GroupView } from './group-view.ts';
import type { GroupNames } from './group-view.ts';
import { Holdings } from './holdings.ts';
import { leasesOf, peerLeasePrefix, ringLeaseName } from './leases.ts';
import type { Leases } from './leases.ts';
import { PeerLife } from './peer-life.ts';
import { protocol as standardProtocol } from './protocol.ts';
import type { Protocol } from './protocol.ts';
import { ShardMetrics } from './shard-metrics.ts';
import { timingsOf } from './timings.ts';
import type { ShardTimings } from './timings.ts';
import { UnownedClusters } from './unowned.ts';
import { ViewLoop } from './view-loop.ts';

/** Options of `ShardCoordinator`. */
export interface ShardCoordinatorOptions {
  /** Client of the cluster with the Leases, or another implementation of them. */
  readonly client: Client | Leases;
  /** Namespace of the Leases. Absent: `default`. Ignored when `client` is an implementation of `Leases`. */
  readonly namespace?: string;
  /** Name of the group of processes that share the clusters; a DNS label. Absent: `default`. */
  readonly group?: string;
  /**
   * Name of this process. It must be unique in the group and should survive a restart, like the names of pods of a StatefulSet. Absent:
   * the host name.
   */
  readonly peer?: string | undefined;
  /** Relative share of the clusters. Absent: 1. */
  readonly weight?: number;
  /** A static shard: the process shares only the clusters that match the selector, with the peers of the same id. */
  readonly shard?: { readonly id: string; readonly selector: string };
  /** Called with all clusters that no process confirms to own, whenever the list changes. */
  readonly onUnowned?: (names: readonly ClusterName[]) => void;
  readonly timings?: Partial<ShardTimings>;
  readonly metrics?: MetricsRegistry;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
}

/** Shares the clusters among the processes of a group by Leases. See README.md. */
export class ShardCoordinator implements Coordinator {
  readonly #options: ShardCoordinatorOptions;
  readonly #clock: Clock;
  readonly #timings: ShardTimings;
  readonly #protocol: Protocol;
  readonly #leases: Leases;
  readonly #names: GroupNames;
  readonly #view: GroupView;
  readonly #holdings: Holdings;
  readonly #metrics: ShardMetrics;
  readonly #unowned: UnownedClusters;
  #life: PeerLife | undefined;
  #isRunning = false;

  /** `protocol` is for simulations that inject protocol errors. */
  constructor(options: ShardCoordinatorOptions, protocol: Protocol = standardProtocol) {
    checkOptions(options);
    const { client, namespace = 'default', group = 'default', clock = systemClock, log, metrics } = options;
    this.#options = options;
    this.#clock = clock;
    this.#protocol = protocol;
    this.#timings = timingsOf(options.timings);
    this.#leases = 'status' in client ? leasesOf({ client, namespace, group }) : client;
    this.#names = {
      ring: ringLeaseName(group),
      peerPrefix: peerLeasePrefix(group),
      unreadableLeaseMs: this.#timings.leaseMs,
    };
    this.#view = new GroupView(clock, this.#names);
    this.#holdings = new Holdings({
      clock,
      timings: this.#timings,
      log,
      settleLabels: options.shard !== undefined,
      onFollow: (holding) => this.#life?.onFollow(holding),
      onRest: () => this.#life?.onRest(),
      onAbandoned: () => this.#metrics.drainAbandoned(),
    });
    this.#unowned = new UnownedClusters({
      view: this.#view,
      protocol,
      afterMs: this.#timings.unownedAfterMs,
      onChange: (names) => this.#tellUnowned(names),
    });
    this.#metrics = new ShardMetrics(metrics, group, () => ({
      followed: this.#holdings.all.size,
      owned: this.ownedCount,
      unowned: this.#unowned.count,
      peers: this.#view.ring?.members.length ?? 0,
      epoch: this.epoch,
    }));
  }

  /** Epoch of the newest observed ring; 0 if there is none. */
  get epoch(): number {
    return this.#view.ring?.epoch ?? 0;
  }

  /** True while this process is a member of the ring and its lease is valid. Only members get clusters. */
  get isMember(): boolean {
    const life = this.#life;
    if (!life || life.remainingMs === 0) return false;
    return this.#view.ring?.members.some(({ id }) => id === life.id) ?? false;
  }

  get ownedCount(): number {
    let count = 0;
    for (const { state } of this.#holdings.all) if (state === 'held') count++;
    return count;
  }

  follow(cluster: Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>, claim: Claim): () => void {
    return this.#holdings.follow(cluster, claim);
  }

  changed(cluster: Pick<DiscoveredCluster, 'name' | 'labels' | 'weight'>): void {
    this.#holdings.changed(cluster);
  }

  async run(signal: AbortSignal): Promise<void> {
    assert(!this.#isRunning, 'the coordinator is already running');
    this.#isRunning = true;
    const watching = new AbortController();
    const loop = new ViewLoop({
      leases: this.#leases,
      view: this.#view,
      timings: this.#timings,
      clock: this.#clock,
      log: this.#options.log,
      onView: () => this.#life?.onView(),
    });
    const onAbort = (): void => this.#life?.leave();
    signal.addEventListener('abort', onAbort, { once: true });
    const watched = loop.run(watching.signal);
    try {
      while (!signal.aborted) {
        this.#life = this.#newLife(() => loop.restart());
        await this.#life.run();
      }
    } finally {
      this.#life = undefined;
      signal.removeEventListener('abort', onAbort);
      watching.abort();
      await watched;
      this.#isRunning = false;
    }
  }

  #newLife(restartWatch: () => void): PeerLife {
    const { peer: name = hostPeer(), weight = 1, shard, log, random = systemRandom } = this.#options;
    return new PeerLife({
      leases: this.#leases,
      names: { ring: this.#names.ring, lease: this.#names.peerPrefix + name },
      view: this.#view,
      holdings: this.#holdings,
      protocol: this.#protocol,
      timings: this.#timings,
      clock: this.#clock,
      random,
      log,
      peer: { name, weight, ...(shard && { shard: shard.id, selector: shard.selector }) },
      onWrite: () => this.#metrics.leaseWritten(),
      onBeat: () => this.#unowned.look(this.#holdings.all, this.#clock.monotonicMs()),
      restartWatch,
    });
  }

  #tellUnowned(names: readonly ClusterName[]): void {
    const { log, onUnowned } = this.#options;
    if (names.length > 0) log?.error('clusters without an owner', { count: names.length, first: names.slice(0, 5) });
    try {
      onUnowned?.(names);
    } catch (error) {
      log?.error('onUnowned failed', { error });
    }
  }
}

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9.]{0,150}[a-z0-9])?$/;

const hostPeer = (): string => hostname().toLowerCase();

function checkOptions({ group = 'default', peer = hostPeer(), weight = 1, shard }: ShardCoordinatorOptions): void {
  const refuse = (message: string, cause?: unknown): never => {
    throw new RuntimeError('InvalidOptions', message, { cause });
  };
  if (!dnsLabel.test(group)) refuse(`group ${JSON.stringify(group)} is not a DNS label`);
  if (!dnsSubdomain.test(peer)) refuse(`peer ${JSON.stringify(peer)} is not a DNS name`);
  if (!(weight > 0 && Number.isFinite(weight))) refuse(`weight must be greater than 0, not ${weight}`);
  if (!shard) return;
  try {
    parseLabelSelector(shard.selector);
  } catch (cause) {
    refuse(`the selector of shard ${shard.id} is invalid`, cause);
  }
}
