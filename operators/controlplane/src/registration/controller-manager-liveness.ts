/**
 * Follows the Leases of controller managers, and reports those of which no replica runs any longer.
 *
 *     renewal        ├── lease (7 s) ──┤ the replica has stopped by itself
 *                                      ├── grace (10 s) ──┤ lost, unless a replica renews before
 *     clean exit     ├── grace (10 s) ──┤ lost
 *
 * The time counts on this process's clock from the moment at which it saw a version of the Lease, so clocks need not agree. A replica stops
 * its programs before its Lease expires: a controller manager that is lost runs nothing. The grace lets one restart without a handoff.
 * Before a controller manager is reported, its Leases are read from the server once more: a watch that lags proves nothing.
 *
 * The cost depends on the number of replicas, not on the number of control planes.
 */

import type { Client } from '@hangar/client';
import { asError, aborted } from '@hangar/core';
import type { Clock, Logger, Timer } from '@hangar/core';
import type { Cluster } from '@hangar/runtime';
import { replicaLeaseOf, shardGroupLabel, shardLeaseKind } from '@hangar/runtime/clusters';
import type { ShardLease } from '@hangar/runtime/clusters';
import type { ControllerManagerReference } from '../api/index.ts';

export interface LivenessOptions {
  /** Reads from the server. */
  readonly management: Pick<Client, 'list'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Absent: 10 s. */
  readonly graceMs?: number;
}

const defaultGraceMs = 10_000;
const confirmTimeoutMs = 5_000;

/** The replicas that can stand in for each other. */
interface Replicas {
  readonly key: string;
  readonly leaseNamespace: string;
  readonly leaseGroup: string;
  /** By the name of the Lease: the version that was seen, and when it expires. */
  readonly leases: Map<string, { readonly resourceVersion: string; readonly expiresMs: number }>;
  /** When the last replica left, or when this process first looked for one. */
  aliveUntilMs: number;
  timer: Timer | undefined;
  isConfirming: boolean;
  isLost: boolean;
}

/** Equal for references to the same replicas. */
export const keyOfReference = ({ leaseNamespace, leaseGroup, shard = '' }: ControllerManagerReference): string =>
  `${leaseNamespace}/${leaseGroup}/${shard}`;

export class ControllerManagerLiveness {
  readonly #options: LivenessOptions;
  readonly #graceMs: number;
  readonly #replicas = new Map<string, Replicas>();
  /** The replicas that a Lease belongs to, by its namespace and name. */
  readonly #ofLease = new Map<string, Replicas>();
  readonly #listeners = new Set<(key: string) => void>();

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#graceMs = options.graceMs ?? defaultGraceMs;
  }

  /** Whether no replica has run for the grace period. False at first: the answer takes that long. */
  isLost(reference: ControllerManagerReference): boolean {
    const replicas = this.#replicasOf(reference);
    this.#schedule(replicas);
    return replicas.isLost;
  }

  /** Calls `onLost` with the key of each controller manager that is lost, until the signal. */
  async follow({ cache }: Pick<Cluster, 'cache'>, onLost: (key: string) => void, signal: AbortSignal): Promise<void> {
    this.#listeners.add(onLost);
    const registration = cache.informer(shardLeaseKind).addHandler({
      onAdd: (lease) => this.observe(lease),
      onUpdate: (_before, lease) => this.observe(lease),
      onDelete: (lease) => this.#remove(lease),
    });
    await aborted(signal);
    registration.remove();
    this.#listeners.delete(onLost);
    if (this.#listeners.size === 0) this.#stop();
  }

  observe(lease: ShardLease): void {
    const seen = replicaLeaseOf(lease);
    if (!seen) return;
    if (seen.isGone) return this.#remove(lease);
    const { namespace: leaseNamespace, group: leaseGroup, shard, leaseMs } = seen;
    const replicas = this.#replicasOf({ leaseNamespace, leaseGroup, ...(shard === undefined ? {} : { shard }) });
    const key = leaseKey(lease);
    if (this.#ofLease.get(key) !== replicas) this.#remove(lease);
    const resourceVersion = lease.metadata.resourceVersion ?? '';
    if (replicas.leases.get(key)?.resourceVersion === resourceVersion) return;
    this.#ofLease.set(key, replicas);
    replicas.leases.set(key, { resourceVersion, expiresMs: this.#options.clock.monotonicMs() + leaseMs });
    replicas.isLost = false;
    this.#schedule(replicas);
  }

  #remove(lease: ShardLease): void {
    const key = leaseKey(lease);
    const replicas = this.#ofLease.get(key);
    if (!replicas) return;
    this.#ofLease.delete(key);
    replicas.leases.delete(key);
    replicas.aliveUntilMs = this.#options.clock.monotonicMs();
    // It may be lost earlier now than the timer fires.
    replicas.timer?.cancel();
    replicas.timer = undefined;
    this.#schedule(replicas);
  }

  #replicasOf(reference: ControllerManagerReference): Replicas {
    const key = keyOfReference(reference);
    let replicas = this.#replicas.get(key);
    if (!replicas) {
      const { leaseNamespace, leaseGroup } = reference;
      const aliveUntilMs = this.#options.clock.monotonicMs();
      const state = { aliveUntilMs, timer: undefined, isConfirming: false, isLost: false };
      replicas = { key, leaseNamespace, leaseGroup, leases: new Map(), ...state };
      this.#replicas.set(key, replicas);
    }
    return replicas;
  }

  /** 0: it is time to confirm the loss. */
  #remainingMs({ leases, aliveUntilMs }: Replicas): number {
    const lastMs = Array.from(leases.values()).reduce((last, { expiresMs }) => Math.max(last, expiresMs), aliveUntilMs);
    return Math.max(0, lastMs + this.#graceMs - this.#options.clock.monotonicMs());
  }

  /** One timer for all replicas that can stand in for each other. A renewal does not reset it: the state is checked when it fires. */
  #schedule(replicas: Replicas, delayMs = this.#remainingMs(replicas)): void {
    if (replicas.timer || replicas.isConfirming || replicas.isLost) return;
    replicas.timer = this.#options.clock.after(delayMs, () => {
      replicas.timer = undefined;
      if (this.#remainingMs(replicas) > 0) this.#schedule(replicas);
      else void this.#confirm(replicas);
    });
  }

  async #confirm(replicas: Replicas): Promise<void> {
    const { management, clock, log } = this.#options;
    const { leaseNamespace, leaseGroup } = replicas;
    const late = new AbortController();
    const timer = clock.after(confirmTimeoutMs, () => late.abort());
    replicas.isConfirming = true;
    try {
      const { items } = await management.list(shardLeaseKind, {
        namespace: leaseNamespace,
        labelSelector: { [shardGroupLabel]: leaseGroup },
        signal: late.signal,
      });
      for (const lease of items) this.observe(lease);
    } catch (error) {
      log.warn('failed to read the Leases of a controller manager, retrying', {
        leaseNamespace,
        leaseGroup,
        reason: asError(error).message,
      });
      replicas.isConfirming = false;
      return this.#schedule(replicas, confirmTimeoutMs);
    } finally {
      timer.cancel();
    }
    replicas.isConfirming = false;
    if (this.#remainingMs(replicas) > 0) return this.#schedule(replicas);
    replicas.isLost = true;
    for (const onLost of this.#listeners) onLost(replicas.key);
  }

  #stop(): void {
    for (const { timer } of this.#replicas.values()) timer?.cancel();
    this.#replicas.clear();
    this.#ofLease.clear();
  }
}

const leaseKey = ({ metadata: { namespace, name } }: ShardLease): string => `${namespace}/${name}`;
